import { createServer, type IncomingMessage, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import { createClient, RelayError, type RelayClient } from "../../packages/client/src/index.ts";
import { operations as called } from "../../packages/client/src/operations.ts";
import { openAccount, openIngest, unique } from "../support/accounts.ts";
import { startApi, type TestApi } from "../support/api.ts";
import { relayClient } from "../support/api-client.ts";
import { inMemoryEngines, type InMemoryEngines } from "../support/api-engines.ts";
import { describedFetch } from "../support/described.ts";
import { apiDocument } from "../support/document.ts";
import { goodRequests, type Scene } from "../support/good-requests.ts";

type AnyMethod = (...given: unknown[]) => Promise<unknown> | AsyncGenerator<unknown>;

const operations = Object.entries(apiDocument.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })));
const nowhere = "00000000-0000-7000-8000-000000000000";

/** The error with which an awaited call rejects. */
async function errorOf(call: Promise<unknown>): Promise<RelayError> {
  const error = await call.then(() => expect.fail("it succeeds"), (reason: unknown) => reason);
  expect(error).to.be.instanceOf(RelayError);
  return error as RelayError;
}

/** An answer, or the end of the stream that was called for. */
async function firstOf(called: Promise<unknown> | AsyncGenerator<unknown>): Promise<unknown> {
  return "next" in called ? called.next().catch((ended: unknown) => ended) : called;
}

describe("the client", () => {
  let engines: InMemoryEngines;
  let api: TestApi;
  let scene: Scene;
  let owner: RelayClient;
  before(async () => {
    engines = await inMemoryEngines();
    api = await startApi(engines);
    const [one, other] = await Promise.all([openAccount(api.url), openAccount(api.url)]);
    scene = { api, clock: engines.clock, one, other, ingest: await openIngest(one.owner.client, one.tenantId) };
    owner = relayClient(api.url, { token: one.owner.client.token ?? "" });
  });
  after(async () => {
    await api.close();
    await engines.close();
  });
  afterEach(() => expect(api.errors).to.deep.equal([]));

  describe("calls each operation of the API's description by its name:", () => {
    for (const { method, path, operation } of operations) {
      it(operation.operationId, async () => {
        const { operationId } = operation;
        const { params, json, headers, as = scene.one.owner.client } = await goodRequests[operationId]!(scene);
        const seen: Request[] = [];
        const stop = new AbortController();
        const client = createClient({
          url: api.url,
          ...(as.token === undefined ? {} : { token: as.token }),
          apiKey: scene.ingest.apiKey,
          fetch: async (input, init) => {
            seen.push(new Request(input, init));
            const answer = await describedFetch(input, init);
            // A stream that ends is followed again.
            if (operationId === "followStream") stop.abort();
            return answer;
          },
        });
        const call = (client as unknown as Readonly<Record<string, AnyMethod>>)[operationId];
        const body = operation.requestBody ? [json] : [];
        const parameters = operation.parameters.length > 0 ? [params ?? {}] : [];
        const options = { signal: stop.signal, ...(headers?.["cookie"] !== undefined && { headers }) };
        const answer = await firstOf(call!(...parameters, ...body, options));
        const [sent = expect.fail("nothing is sent")] = seen;
        const target = path.replace(/\{(\w+)\}/g, (_braced, name: string) => params?.[name] ?? "");
        expect([sent.method, new URL(sent.url).pathname]).to.deep.equal([method, target]);
        expect(answer === undefined).to.equal("204" in operation.responses);
      });
    }

    it("and knows no other", () => {
      expect(Object.keys(called)).to.have.members(operations.map(({ operation }) => operation.operationId));
    });
  });

  describe("shows", () => {
    const shownTo = async (
      options: { readonly token?: string; readonly apiKey?: string }, act: (client: RelayClient) => Promise<unknown>,
    ) => {
      const shown: Record<string, string | null>[] = [];
      const client = createClient({
        url: api.url,
        ...options,
        fetch: (input, init) => {
          const { headers } = new Request(input, init);
          shown.push({ bearer: headers.get("authorization"), key: headers.get("x-api-key") });
          return describedFetch(input, init);
        },
      });
      await act(client).catch(() => undefined);
      return shown;
    };
    const both = { token: "a-token", apiKey: "rk_key" };

    it("its token to operations of users only, and its API key to ingest only", async () => {
      expect(await shownTo(both, (client) => client.listUsers()))
        .to.deep.equal([{ bearer: "Bearer a-token", key: null }]);
      expect(await shownTo(both, (client) => client.ingest({ tenantId: nowhere, token: "dst_x" }, {})))
        .to.deep.equal([{ bearer: null, key: "rk_key" }]);
    });

    it("no credentials to public operations, and none where it was given none", async () => {
      expect(await shownTo(both, (client) => client.getHealth())).to.deep.equal([{ bearer: null, key: null }]);
      expect(await shownTo({}, (client) => client.listUsers())).to.deep.equal([{ bearer: null, key: null }]);
    });

    it("the token that a function returns, called again for each operation", async () => {
      const tokens = ["wrong", scene.one.owner.client.token ?? ""];
      const client = relayClient(api.url, { token: async () => tokens.shift() ?? "" });
      expect((await errorOf(client.listUsers())).status).to.equal(401);
      expect((await client.listUsers()).items.map(({ id }) => id)).to.include(scene.one.owner.id);
    });
  });

  describe("rejects with", () => {
    it("the relay's sentence, its status, a code, the field at fault and the request's id", async () => {
      const headers = { "X-Request-Id": "form-1" };
      const { name, message, status, code, details } =
        await errorOf(owner.createDestination({ url: "http://receiver.example" }, { headers }));
      expect({ name, status, code }).to.deep.equal({ name: "RelayError", status: 400, code: "invalid" });
      expect(message).to.match(/^url: /);
      expect(details).to.deep.equal({
        operation: "createDestination", field: "url", requestId: "form-1", retryAfter: null,
      });
    });

    it("a code for each kind of refusal", async () => {
      const viewer = relayClient(api.url, { token: scene.one.viewer.client.token ?? "" });
      const large = "x".repeat(300_000);
      const refusals = {
        unauthenticated: () => relayClient(api.url).listUsers(),
        forbidden: () => viewer.createApiKey({ name: "key" }),
        "not-found": () => owner.getEvent({ id: nowhere }),
        conflict: () => owner.createInvite({ email: scene.other.owner.email, role: 0 }),
        "too-large": () => owner.createApiKey({ name: large }),
        "wrong-type": () => owner.createApiKey({ name: "key" }, { headers: { "Content-Encoding": "gzip" } }),
        rejected: () => owner.updateUser({ id: scene.one.owner.id }, { role: 0 }),
      };
      for (const [code, call] of Object.entries(refusals)) expect((await errorOf(call())).code).to.equal(code);
    });

    for (const id of ["", ".", ".."]) {
      it(`a TypeError for the id "${id}", with which the path is another operation's`, async () => {
        const error: unknown = await owner.replayEvent({ id }).catch((reason: unknown) => reason);
        expect(error).to.be.instanceOf(TypeError).with.property("message", "id: must be a value");
      });
    }
  });

  describe("encodes", () => {
    it("values in paths and queries, so that they stay values", async () => {
      expect((await errorOf(owner.getEvent({ id: "../users?a=b#c" }))).code).to.equal("not-found");
      expect((await owner.listEvents({ IdempotencyKey: "a&Qt=0 ä+#" })).total).to.equal(0);
    });

    it("no parameter that is undefined", async () => {
      expect((await owner.listUsers({ Role: undefined as unknown as 0, Qt: 1 })).items).to.have.length(1);
    });
  });

  describe("lists", () => {
    let client: RelayClient;
    let created: string[];
    let asked: string[];
    before(async () => {
      const { owner: person } = await openAccount(api.url);
      client = createClient({
        url: api.url,
        token: person.client.token ?? "",
        fetch: (input, init) => {
          asked.push(new URL(new Request(input, init).url).search);
          return describedFetch(input, init);
        },
      });
      asked = [];
      created = [];
      for (let n = 0; n < 7; n += 1) created.push((await client.createApiKey({ name: unique("key") })).id);
    });
    beforeEach(() => {
      asked = [];
    });

    const idsOf = async (list: AsyncIterable<{ readonly id: string }>) => {
      const ids: string[] = [];
      for await (const { id } of list) ids.push(id);
      return ids;
    };

    it("a page when awaited", async () => {
      const { total, items } = await client.listApiKeys({ Qt: 3, CpOrd: "createdAt" });
      expect([total, items.length]).to.deep.equal([7, 3]);
      expect(asked).to.have.length(1);
    });

    for (const [size, requests] of [[1, 7], [3, 3], [7, 1], [100, 1]] as const) {
      it(`all items by for await, ${size} a page in ${requests} requests`, async () => {
        expect(await idsOf(client.listApiKeys({ Qt: size, CpOrd: "createdAt" }))).to.have.members(created);
        expect(asked).to.have.length(requests);
      });
    }

    it("the items from a page on, and none of a page that does not exist", async () => {
      const ids = await idsOf(client.listApiKeys({ Qt: 3 }));
      expect(await idsOf(client.listApiKeys({ Qt: 3, Pg: 2 }))).to.deep.equal(ids.slice(3));
      expect(await idsOf(client.listApiKeys({ Qt: 3, Pg: 9 }))).to.deep.equal([]);
      expect(await idsOf(client.listApiKeys({ Pg: 9 }))).to.deep.equal([]);
      expect(asked).to.have.length(3 + 2 + 1 + 1);
    });

    it("the items from a page on without a size as well", async () => {
      const many = relayClient(api.url, { token: (await openAccount(api.url)).owner.client.token ?? "" });
      for (let n = 0; n < 22; n += 1) await many.createApiKey({ name: unique("key") });
      const ids = await idsOf(many.listApiKeys());
      expect(ids).to.have.length(22);
      expect(await idsOf(many.listApiKeys({ Pg: 2 }))).to.deep.equal(ids.slice(20));
    });

    it("no page beyond the one at which iteration stops", async () => {
      for await (const { id } of client.listApiKeys({ Qt: 2 })) {
        expect(created).to.include(id);
        break;
      }
      expect(asked).to.have.length(1);
    });

    it("an error to a caller that awaits, and on iteration", async () => {
      const wrong = { Qt: 101 };
      expect((await errorOf(client.listApiKeys(wrong))).details.field).to.equal("Qt");
      expect((await errorOf(idsOf(client.listApiKeys(wrong)))).details.field).to.equal("Qt");
    });
  });

  it("ends a call by a signal, with its reason", async () => {
    const stop = new AbortController();
    const call = owner.listUsers({}, { signal: stop.signal });
    stop.abort(new Error("no longer wanted"));
    const error: unknown = await call.then(() => expect.fail("it succeeds"), (reason: unknown) => reason);
    expect(error).to.have.property("message", "no longer wanted");
  });

  describe("behind other servers", () => {
    let server: Server;
    let url: string;
    let answer: RequestListener;
    let requests: IncomingMessage[];
    before(async () => {
      server = createServer((request, response) => {
        requests.push(request);
        answer(request, response);
      });
      await new Promise<void>((resolve) => {
        server.listen(0, "127.0.0.1", resolve);
      });
      url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    });
    after(() => server.close());
    beforeEach(() => {
      requests = [];
    });

    it("keeps the path prefix of a proxy", async () => {
      answer = (_request, response) => void response.setHeader("content-type", "text/plain").end("ok");
      for (const prefix of ["/relay", "/relay/"]) {
        expect(await createClient({ url: url + prefix }).getHealth()).to.equal("ok");
      }
      expect(requests.map((request) => request.url)).to.deep.equal(["/relay/healthz", "/relay/healthz"]);
    });

    it("follows no redirect: its target would get the credentials", async () => {
      answer = (request, response) =>
        void response.writeHead(request.url?.includes("elsewhere") ? 200 : 307, { location: "/elsewhere" }).end("{}");
      const client = createClient({ url, apiKey: "rk_key" });
      const error: unknown =
        await client.ingest({ tenantId: nowhere, token: "dst_x" }, {}).catch((reason: unknown) => reason);
      expect(error).to.be.instanceOf(RelayError).with.property("code", "unreachable");
      expect(requests).to.have.length(1);
    });

    it("rejects a page with status 200 that is not the relay's answer", async () => {
      answer = (_request, response) => void response.setHeader("content-type", "text/html").end("<p>sign in</p>");
      const error = await errorOf(createClient({ url }).listUsers());
      expect([error.status, error.code]).to.deep.equal([200, "unexpected"]);
    });

    it("reports a connection lost in the head or in the body as unreachable, with the cause", async () => {
      const broken: RequestListener[] = [
        (request) => void request.socket.destroy(),
        (request, response) => {
          response.writeHead(200, { "content-type": "application/json", "content-length": "99" }).write("{", () =>
            request.socket.destroy());
        },
      ];
      for (const listener of broken) {
        answer = listener;
        const error = await errorOf(createClient({ url }).listUsers());
        expect([error.status, error.code]).to.deep.equal([0, "unreachable"]);
        expect(error.cause).to.be.instanceOf(TypeError);
      }
    });

    it("does not quote the error page of a proxy", async () => {
      answer = (_request, response) => void response.writeHead(502, { "content-type": "text/html" }).end("<p>x</p>");
      const { message, code, details } = await errorOf(createClient({ url }).listUsers());
      expect([message, code, details.requestId]).to.deep.equal(["502 Bad Gateway", "unavailable", null]);
    });

    it("tells a disposable address from other rejections", async () => {
      const body = { error: "disposable_email", message: "ownerEmail: is disposable" };
      answer = (_request, response) =>
        void response.writeHead(422, { "content-type": "application/json" }).end(JSON.stringify(body));
      const tenant = { name: "a", ownerEmail: "a@b.example", ownerPassword: "12345678" };
      const { code, message, details } = await errorOf(createClient({ url }).createTenant(tenant));
      expect([code, message, details.field]).to.deep.equal(["disposable-email", body.message, "ownerEmail"]);
    });

    const past = "Wed, 21 Oct 2015 07:28:00 GMT";
    for (const [form, header, least, most] of [
      ["a number of seconds", "7", 7, 7],
      ["a date that is past", past, 0, 0],
      ["a date to come", () => new Date(Date.now() + 60_000).toUTCString(), 58, 60],
      ["a text that is neither", "soon", null, null],
    ] as const) {
      it(`reads a Retry-After that is ${form}`, async () => {
        const value = typeof header === "string" ? header : header();
        answer = (_request, response) => void response.writeHead(503, { "retry-after": value }).end();
        const { retryAfter } = (await errorOf(createClient({ url }).listUsers())).details;
        if (least === null) expect(retryAfter).to.equal(null);
        else expect(retryAfter).to.be.within(least, most);
      });
    }
  });
});
