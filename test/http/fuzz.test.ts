import { expect } from "chai";
import fc from "fast-check";
import { Client, openAccount, openIngest } from "../support/accounts.ts";
import { inMemoryEngines, startApi, type InMemoryEngines, type TestApi } from "../support/api.ts";
import { http } from "../support/http.ts";
import { sized } from "../support/size.ts";

const requests = sized(2_000, 100_000);
const fields = [
  "name",
  "ownerEmail",
  "ownerPassword",
  "maxTrys",
  "circuitBreakerTimer",
  "email",
  "password",
  "role",
  "status",
  "url",
  "serverRateLimit",
  "authType",
  "credentials",
  "removeAuth",
  "expiresAt",
  "payload",
  "signature",
  "token",
  "headerName",
  "value",
  "tokenEndpoint",
  "username",
  "__proto__",
  "constructor",
];
const parameters = ["Qt", "Pg", "CpOrd", "TpOrd", "Status", "Role", "DestinationUrlId", "From", "To"];

/** A value that a field might have, or rather not. */
const value = fc.oneof(
  fc.constantFrom(
    "a@example.com",
    "correct horse battery",
    "https://receiver.example/",
    "https://127.0.0.1",
    "ApiKey",
    "JwtBearer",
    "BasicAuth",
    "active",
    "inactive",
    "sha256=00",
    "2999-01-01",
    "-271821-04-20",
    "",
    " ",
    "\u0000",
    "\ud800",
    "x".repeat(300),
    0,
    1,
    10,
    20,
    -1,
    1.5,
    1e308,
    2 ** 53,
  ),
  fc.jsonValue({ maxDepth: 2 }),
);
const good = fc.constantFrom<object>(
  { name: "n", ownerEmail: "a@example.com", ownerPassword: "correct horse battery" },
  { email: "b@example.com", password: "correct horse battery" },
  { url: "https://receiver.example/" },
  { name: "a key" },
  { payload: "x", signature: "sha256=00" },
  {},
);
const spoilt = fc.dictionary(
  fc.constantFrom(...fields),
  fc.oneof(value, fc.dictionary(fc.constantFrom(...fields), value)),
  { maxKeys: 3 },
);
const body = fc.oneof(
  { weight: 8, arbitrary: fc.tuple(good, spoilt).map((parts) => JSON.stringify(Object.assign({}, ...parts))) },
  { weight: 1, arbitrary: fc.string({ unit: "binary" }) },
  { weight: 1, arbitrary: fc.constant(undefined) },
);
const query = fc
  .array(
    fc.tuple(
      fc.constantFrom(...parameters),
      fc.oneof(
        fc.constantFrom(
          "1",
          "100",
          "id",
          "Asc",
          "desc",
          "Pending",
          "acceptedAt",
          "2024-01-01",
          "0001-01-01",
          "9999-12-31T23:59:59.999Z",
          "email",
          "999999999",
        ),
        fc.string(),
      ),
    ),
    { maxLength: 3 },
  )
  .map((pairs) => new URLSearchParams(pairs).toString());
const header = fc.oneof(fc.constant(undefined), fc.stringMatching(/^[\x20-\x7e\xa0-\xff]{0,300}$/));

describe("generated requests", () => {
  let engines: InMemoryEngines;
  let api: TestApi;
  let paths: string[];
  let roots: string[];
  let people: Client[];
  let apiKey: string;
  before(async () => {
    engines = await inMemoryEngines();
    api = await startApi(engines);
    const one = await openAccount(api.url);
    const other = await openAccount(api.url);
    const ingest = await openIngest(one.owner.client, one.tenantId);
    ({ apiKey } = ingest);
    const sent = await http("POST", api.url + ingest.path, { json: {}, headers: { "x-api-key": apiKey } });
    const ids = {
      tenants: [one.tenantId, other.tenantId],
      users: [one.viewer.id, other.viewer.id, one.owner.id],
      destinations: [ingest.destinationId],
      "api-keys": [ingest.apiKeyId],
      events: [String(sent.json["eventId"])],
    };
    const odd = ["00000000-0000-7000-8000-000000000000", "x", "%00", "%zz", "..%2f..", "%F0%9F%98%80"];
    paths = Object.entries(ids).flatMap(([resource, known]) => [
      `/api/v1/${resource}`,
      ...[...known, ...odd].flatMap((id) =>
        [
          "",
          "/webhook-secret",
          "/webhook-secret/verify",
          "/ingest-token",
          "/replay",
          "/cancel",
          "/attempts",
          "/history",
        ].map((rest) => `/api/v1/${resource}/${id}${rest}`),
      ),
    ]);
    paths.push(
      "/api/v1/auth/login",
      "/healthz",
      "/readyz",
      "/metrics",
      ingest.path,
      ...odd.map((id) => `/api/v1/ingest/${id}/dst_${id}`),
    );
    roots = paths.filter((path) => path.split("/").length <= 4);
    people = [new Client(api.url), one.owner.client, one.developer.client, other.viewer.client];
  });
  after(async () => {
    await api.close();
    await engines.close();
  });

  it("get an answer that is no 5xx", async () => {
    const methods = fc.constantFrom("GET", "POST", "POST", "PATCH", "PATCH", "DELETE", "PUT", "HEAD", "OPTIONS");
    const seen = new Map<number, number>();
    const request = fc.record({
      method: methods,
      path: fc.nat(),
      person: fc.nat(),
      query,
      body,
      key: header,
      idempotency: header,
      id: header,
      type: header,
    });
    await fc.assert(
      fc.asyncProperty(request, async ({ method, path, person, query, body, key, idempotency, id, type }) => {
        const client = people[person % people.length] ?? expect.fail();
        // Every second request goes to a path without an id: there are few of them.
        const choice = path % 2 === 0 ? roots : paths;
        const target = `${choice[(path >> 1) % choice.length] ?? ""}?${query}`;
        const headers = {
          "x-api-key": key ?? apiKey,
          "content-type": type !== undefined && type.length < 5 ? type : "application/json",
          ...(idempotency === undefined ? {} : { "x-idempotency-key": idempotency }),
          ...(id === undefined ? {} : { "x-request-id": id }),
        };
        const sent = method === "GET" || method === "HEAD" || body === undefined ? {} : { body };
        const { status, text } = await client.call(method, target, { headers, ...sent });
        seen.set(status, (seen.get(status) ?? 0) + 1);
        expect(status, `${method} ${target}: ${text}`).to.be.lessThan(500);
      }),
      { numRuns: requests },
    );
    expect(api.errors).to.deep.equal([]);
    // The generator reaches what it is meant to.
    for (const status of [200, 201, 204, 400, 401, 403, 404, 405, 415]) expect([...seen.keys()]).to.include(status);
  }).timeout(sized(120_000, 3_600_000));
});
