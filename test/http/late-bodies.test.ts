import { once } from "node:events";
import { request, type IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import { expect } from "chai";
import { createUser, freshEmail, openAccount, openIngest, password, type Account } from "../support/accounts.ts";
import { startApi, type TestApi } from "../support/api.ts";
import { inMemoryEngines, type InMemoryEngines } from "../support/api-engines.ts";

describe("a request whose body comes late", () => {
  let engines: InMemoryEngines;
  let api: TestApi;
  let account: Account;

  before(async () => {
    engines = await inMemoryEngines();
    api = await startApi(engines);
    account = await openAccount(api.url);
  });
  after(async () => {
    await api.close();
    await engines.close();
  });

  /** Sends the head; the server asks for the body once it has authenticated the caller. The result sends the body. */
  async function begun(path: string, headers: Record<string, string>, json: object) {
    const body = JSON.stringify(json);
    const described = { "content-type": "application/json", "content-length": body.length, expect: "100-continue" };
    const sent = request(api.url + path, { method: "POST", headers: { ...headers, ...described } });
    const answered = once(sent, "response") as Promise<[IncomingMessage]>;
    sent.flushHeaders();
    await once(sent, "continue");
    return async () => {
      sent.end(body);
      const [answer] = await answered;
      return { status: answer.statusCode, text: await text(answer) };
    };
  }

  type Client = Account["owner"]["client"];
  const endings: readonly [string, (client: Client, id: string) => Promise<{ readonly status: number }>][] = [
    ["deleted", (_, id) => account.owner.client.delete(`/api/v1/users/${id}`)],
    ["deactivated", (_, id) => account.owner.client.patch(`/api/v1/users/${id}`, { status: 1 })],
    ["demoted", (_, id) => account.owner.client.patch(`/api/v1/users/${id}`, { role: 20 })],
    ["logged out", (client) => client.post("/api/v1/auth/logout")],
  ];
  for (const [how, end] of endings) {
    it(`creates no Owner for a caller who was ${how} meanwhile`, async () => {
      const { id, client } = await createUser(account.owner.client, "owner");
      const authorization = `Bearer ${client.token}`;
      const finish = await begun("/api/v1/users", { authorization }, { email: freshEmail(), password, role: 10 });
      expect((await end(client, id)).status).to.be.oneOf([200, 204]);
      expect(await finish()).to.include({ status: 401 });
    });
  }

  const changes: readonly [string, number, (opened: Awaited<ReturnType<typeof openIngest>>) => Promise<object>][] = [
    ["whose API key was revoked", 401, ({ apiKeyId }) => account.owner.client.delete(`/api/v1/api-keys/${apiKeyId}`)],
    ["whose destination was deleted", 404, ({ destinationId }) =>
      account.owner.client.delete(`/api/v1/destinations/${destinationId}`)],
    ["whose destination was set Inactive", 422, ({ destinationId }) =>
      account.owner.client.patch(`/api/v1/destinations/${destinationId}`, { status: "inactive" })],
  ];
  for (const [which, status, change] of changes) {
    it(`is not accepted by an ingest address ${which} meanwhile`, async () => {
      const opened = await openIngest(account.owner.client, account.tenantId);
      const finish = await begun(opened.path, { "x-api-key": opened.apiKey }, { a: 1 });
      await change(opened);
      expect(await finish()).to.include({ status });
    });
  }
});
