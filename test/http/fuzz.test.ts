import { expect } from "chai";
import fc from "fast-check";
import { openAccount, openIngest, type Client } from "../support/accounts.ts";
import { startApi, type TestApi } from "../support/api.ts";
import { describeOnEngines } from "../support/api-engines.ts";
import { apiDocument } from "../support/document.ts";
import { goodRequests, type GoodRequest, type Scene } from "../support/good-requests.ts";
import { http } from "../support/http.ts";
import { sized } from "../support/size.ts";

/** Requests on each of the two engines. */
const requests = sized(1_500, 50_000);
/** Requests to one scene: deletions and changes then leave too few things in it. */
const sceneLasts = 300;

const operations = Object.entries(apiDocument.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, { operationId }]) => ({ operationId, path, method: method.toUpperCase() })));
const described = Object.values(apiDocument.paths).flatMap((methods) => Object.values(methods));
const inQuery = described.flatMap(({ parameters }) =>
  parameters.flatMap((one) => ("in" in one && one.in === "query" ? [one.name] : [])));
const fields = [...new Set([...propertiesOf(apiDocument.components.schemas), "__proto__", "constructor", "toString"])];

/** Every name of a property in a schema, at any depth. */
function propertiesOf(schema: unknown): string[] {
  if (typeof schema !== "object" || schema === null) return [];
  return Object.entries(schema).flatMap(([key, inner]) => [
    ...(key === "properties" ? Object.keys(inner as object) : []), ...propertiesOf(inner),
  ]);
}

/** Null nine times out of ten, so that most parts of a request are valid. */
function rarely<Value>(arbitrary: fc.Arbitrary<Value>): fc.Arbitrary<Value | null> {
  return fc.oneof({ weight: 9, arbitrary: fc.constant(null) }, { weight: 1, arbitrary });
}

/** URLs on which parsers disagree. */
const oddUrl = fc.tuple(
  fc.constantFrom("https:", "HTTPS:", "hTTps:", " https:"),
  fc.constantFrom("//", "", "/", "\\\\", "///", "/\\"),
  fc.constantFrom("EXAMPLE.com", "b\u00fccher.example", "a_b.example", "%65x.example", "8.8.8.8", "0x08080808", "a..b"),
  fc.constantFrom("", "/", ":443/", ":/", "\\hook", "/%zz", "?q", "#f", "/\u00fc", "/\t", "."),
).map((parts) => parts.join(""));
/** A value for a field, valid or not. */
const value = fc.oneof(
  oddUrl,
  fc.constantFrom<unknown>(
    "a@example.com", "correct horse battery", "https://receiver.example/", "https://127.0.0.1", "https://[::1]:99999/",
    "ApiKey", "JwtBearer", "BasicAuth", "active", "inactive", "suspended", "sha256=00", "2999-01-01", "-271821-04-20",
    "Succeeded", "CriticalFailure", "jmespath", "@", "[@,@]|[@,@]|[@,@]", "", " ", "\u0000", "\ud800", "x".repeat(300),
    0, 1, 10, 20, -1, 1.5, 1e308, 2 ** 53, null, true, [], {}, { language: "jmespath", expression: "{a: a}" },
    { headerName: "X-Key", value: "v" }, { username: "u", password: "p" }, { headerName: "Host\r\n", value: "\n" },
  ),
  fc.jsonValue({ maxDepth: 2 }),
);
const spoilt = fc.dictionary(fc.constantFrom(...fields), value, { maxKeys: 3 });
const queryValue = fc.oneof(
  fc.constantFrom(
    "1", "100", "0", "id", "Asc", "desc", "Pending", "acceptedAt", "2024-01-01", "0001-01-01", "email", "999999999",
    "9999-12-31T23:59:59.999Z", "0193a1b2-0000-7000-8000-00000000ffff",
  ),
  fc.string(),
);
const query = fc.array(fc.tuple(fc.constantFrom(...new Set(inQuery)), queryValue), { maxLength: 3 })
  .map((pairs) => new URLSearchParams(pairs).toString());
const header = rarely(fc.stringMatching(/^[\x20-\x7e\xa0-\xff]{0,300}$/));
const oddParameter = fc.constantFrom(
  "0193a1b2-0000-7000-8000-00000000ffff", "00000000-0000-0000-0000-000000000000", "x", "%00", "%zz", "..%2f..",
  "%F0%9F", "dst_x", "sndr_%20", "inv_", "'--", "%25", "x".repeat(3_000),
);
/** The change to a valid body. */
type Change =
  | { readonly kind: "none" }
  | { readonly kind: "over"; readonly over: object }
  | { readonly kind: "instead"; readonly instead: object }
  | { readonly kind: "raw"; readonly text: string };
const change = fc.oneof(
  { weight: 3, arbitrary: fc.constant<Change>({ kind: "none" }) },
  { weight: 4, arbitrary: spoilt.map((over): Change => ({ kind: "over", over })) },
  { weight: 2, arbitrary: spoilt.map((instead): Change => ({ kind: "instead", instead })) },
  { weight: 1, arbitrary: fc.string({ unit: "binary" }).map((text): Change => ({ kind: "raw", text })) },
);
const generated = fc.record({
  operation: fc.constantFrom(...operations),
  method: rarely(fc.constantFrom("GET", "POST", "PATCH", "DELETE", "PUT", "HEAD", "OPTIONS")),
  parameter: rarely(oddParameter),
  person: fc.constantFrom("owner", "owner", "owner", "developer", "viewer", "other", "nobody"),
  change, query, key: header, idempotency: header, id: header,
  type: rarely(fc.constantFrom("text/plain", "", "application/json; charset=latin1")),
});

describeOnEngines("S10 generated requests", (freshEngines) => {
  let api: TestApi;
  let scene: Scene;
  let asked = 0;
  const freshScene = async (): Promise<Scene> => {
    const [one, other] = await Promise.all([openAccount(api.url), openAccount(api.url)]);
    return { api, clock: api.world.clock, one, other, ingest: await openIngest(one.owner.client, one.tenantId) };
  };
  before(async () => {
    api = await startApi(await freshEngines());
  });
  after(() => api.close());

  /** A request that would succeed; it starts a new scene if this one has nothing left for it. */
  const goodRequest = async (operationId: string): Promise<GoodRequest> => {
    try {
      return (await goodRequests[operationId]?.(scene)) ?? expect.fail(`no good request for ${operationId}`);
    } catch {
      scene = await freshScene();
      return (await goodRequests[operationId]?.(scene)) ?? {};
    }
  };
  const clientOf = (person: string, given: Client | undefined): Client | undefined => {
    const { one, other } = scene;
    const people = { owner: given ?? one.owner.client, developer: one.developer.client, viewer: one.viewer.client };
    return { ...people, other: other.admin.client }[person];
  };
  const bodyOf = (json: object | undefined, made: Change): { json?: unknown; body?: string } => {
    if (made.kind === "raw") return { body: made.text };
    if (made.kind === "instead") return { json: made.instead };
    return json === undefined ? {} : { json: made.kind === "over" ? { ...json, ...made.over } : json };
  };

  it("get an answer that the OpenAPI document describes, and no 5xx", async () => {
    const seen = new Map<string, Set<number>>();
    await fc.assert(
      fc.asyncProperty(generated, async ({ operation, method, parameter, person, ...more }) => {
        if (asked % sceneLasts === 0) scene = await freshScene();
        asked += 1;
        const good = await goodRequest(operation.operationId);
        const { key, idempotency, id, type, query } = more;
        const path = operation.path.replace(/\{(\w+)\}/g, (_, name: string) => parameter ?? good.params?.[name] ?? "x");
        const token = clientOf(person, good.as)?.token;
        const verb = method ?? operation.method;
        const address = `${path}${good.query ?? "?"}&${query}`;
        const { status, text } = await http(verb, api.url + address, {
          headers: {
            ...good.headers,
            ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
            "x-api-key": key ?? scene.ingest.apiKey,
            ...(idempotency === null ? {} : { "x-idempotency-key": idempotency }),
            ...(id === null ? {} : { "x-request-id": id }),
            ...(type === null ? {} : { "content-type": type }),
          },
          ...(verb === "GET" || verb === "HEAD" ? {} : bodyOf(good.json, more.change)),
        });
        const statuses = seen.get(operation.operationId) ?? new Set();
        seen.set(operation.operationId, statuses.add(status));
        expect(status, `${verb} ${address}: ${text}`).to.be.lessThan(500);
      }),
      { numRuns: requests },
    );
    expect(api.errors).to.deep.equal([]);
    // The generator reached every operation. Nine in ten of them succeed at least once, give or take a few of each run.
    expect([...seen.keys()]).to.have.members(operations.map(({ operationId }) => operationId));
    const succeeded = [...seen.values()].filter((statuses) => [...statuses].some((status) => status < 300));
    expect(succeeded.length).to.be.greaterThan(operations.length * 0.75);
    const all = new Set([...seen.values()].flatMap((statuses) => [...statuses]));
    expect([...all]).to.include.members([200, 201, 202, 204, 400, 401, 403, 404, 405, 415]);
  }).timeout(sized(120_000, 3_600_000));
});
