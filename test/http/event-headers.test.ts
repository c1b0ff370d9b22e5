import { once } from "node:events";
import { Agent, request, type IncomingMessage, type OutgoingHttpHeaders } from "node:http";
import { text } from "node:stream/consumers";
import { expect } from "chai";
import { openAccount, openIngest, unique, type Account } from "../support/accounts.ts";
import { startApi, type TestApi } from "../support/api.ts";
import { inMemoryEngines, type InMemoryEngines } from "../support/api-engines.ts";

const utf8 = (text: string) => Buffer.from(text, "utf8").toString("latin1");
const tags = (count: number) => Array.from({ length: count }, (_, n) => `t${n}=${n}`).join(",");

for (const [parser, keepAlive] of [["the fast path", true], ["Node's HTTP server", false]] as const) {
  describe(`headers that tell of an event, read by ${parser}`, () => {
    let agent: Agent;
    let engines: InMemoryEngines;
    let api: TestApi;
    let account: Account;
    let mine: Awaited<ReturnType<typeof openIngest>>;
    let senderPath: string;
    let byNode: number;
    before(async () => {
      engines = await inMemoryEngines();
      api = await startApi(engines);
      account = await openAccount(api.url);
      mine = await openIngest(account.owner.client, account.tenantId);
      const { ingestToken } = await account.owner.client.api.createSender(
        { name: "shop", destinationUrlId: mine.destinationId });
      senderPath = `/api/v1/ingest/${account.tenantId}/${ingestToken}`;
      api.server.on("request", ({ url }) => (byNode += url?.startsWith("/api/v1/ingest/") ? 1 : 0));
    });
    after(async () => {
      await api.close();
      await engines.close();
    });
    beforeEach(() => [agent, byNode] = [new Agent({ keepAlive }), 0]);
    afterEach(() => {
      agent.destroy();
      expect(api.errors).to.deep.equal([]);
    });

    const post = async (own: OutgoingHttpHeaders, { path = mine.path, body = "{}" } = {}) => {
      const headers = { "content-type": "application/json", "x-api-key": mine.apiKey, ...own };
      const [answer] = (await once(
        request(api.url + path, { method: "POST", agent, headers: { ...headers, "content-length": body.length } })
          // Of a text, Node would write the headers as UTF-8, too.
          .end(Buffer.from(body)),
        "response",
      )) as [IncomingMessage];
      return { status: answer.statusCode, text: await text(answer) };
    };
    const accepted = async (own: OutgoingHttpHeaders, options: { path?: string } = {}) => {
      const answer = await post(own, options);
      expect(answer.status, answer.text).to.equal(202);
      const { eventId } = JSON.parse(answer.text) as { eventId: string };
      return account.viewer.client.api.getEvent({ id: eventId });
    };

    it("are shown with the event, in its list, and to a repeated request", async () => {
      const own = {
        "x-event-type": "order.paid", "X-Owner-Id": utf8("Kundin 7 ü \u{1f600}"),
        "x-tags": utf8("order=a=b:1,region=eu,__proto__=ü"), "x-idempotency-key": unique("all"),
      };
      const said = {
        eventType: "order.paid", ownerId: "Kundin 7 ü \u{1f600}",
        tags: Object.fromEntries([["order", "a=b:1"], ["region", "eu"], ["__proto__", "ü"]]),
      };
      const event = await accepted(own);
      expect(event).to.deep.include({ ...said, senderId: null });
      const { items: [listed] } = await account.viewer.client.api.listEvents({ Qt: 1 });
      expect(listed).to.deep.equal(event);
      const again = await post(own);
      expect(again.status).to.equal(200);
      expect(JSON.parse(again.text)).to.deep.include(said);
      const { items: [fact] } = await account.viewer.client.api.listEventHistory({ id: event.id });
      expect(fact?.data).to.deep.include(said);
    });

    it("go with an event through a sender, too", async () => {
      const event = await accepted({ "x-event-type": "order.paid", "x-tags": "a=1" }, { path: senderPath });
      expect(event).to.deep.include({ eventType: "order.paid", ownerId: null, tags: { a: "1" } });
      expect(event.senderId).to.be.a("string");
      expect(byNode).to.equal(keepAlive ? 0 : 1);
    });

    it("that are not there leave no field in the event's facts", async () => {
      const { id } = await accepted({});
      const { items: [fact] } = await account.viewer.client.api.listEventHistory({ id });
      expect(fact?.data).to.not.have.any.keys("eventType", "ownerId", "tags", "test", "sourceEventId");
    });

    it("are taken up to their limits", async () => {
      for (const own of [
        { "x-event-type": "t".repeat(255) },
        { "x-owner-id": utf8("\u{1f600}".repeat(255)) },
        { "x-event-type": "a, b" },
        { "x-tags": tags(10) },
        { "x-tags": `${"n".repeat(32)}=${"v".repeat(128)}` },
        { "x-tags": utf8(`n_0=${"\u{1f600}".repeat(128)}`) },
        { "x-tags": "a==" },
      ] as const) {
        expect((await post(own)).status, JSON.stringify(own)).to.equal(202);
      }
    });

    it("may list tags with spaces around the commas, or in several headers", async () => {
      expect((await accepted({ "x-tags": "a=1 , b=2" })).tags).to.deep.equal({ a: "1", b: "2" });
      expect((await accepted({ "x-tags": ["a=1,b=2", "c=3"] })).tags).to.deep.equal({ a: "1", b: "2", c: "3" });
    });

    it("are 400 beyond their limits, and the text names the header", async () => {
      const table: readonly [name: string, values: readonly (string | readonly string[])[]][] = [
        ["X-Event-Type", ["", " ", "t".repeat(256), "a\tb", utf8("a\u0085b"), ["a", "b"]]],
        ["X-Owner-Id", ["", utf8("\u{1f600}".repeat(256)), "a\tb", ["a", "a"]]],
        ["X-Tags", [
          "", "a", "=1", "a=", "A=1", "a-b=1", `${"n".repeat(33)}=1`, `a=${"v".repeat(129)}`, "a=1,", ",a=1",
          "a=1,,b=2", "a=1,a=1", "a=1,b=2,a=3", "a=1\t2", utf8("a=\u0085"), utf8("ä=1"), tags(11), ["a=1", "a=2"],
        ]],
      ];
      for (const [name, values] of table) {
        for (const value of values) {
          for (const path of [mine.path, senderPath]) {
            const { status, text: told } = await post({ [name]: value as string }, { path });
            expect([status, told.split(":")[0]], `${name}: ${String(value)}`).to.deep.equal([400, name]);
          }
        }
      }
    });

    it("are checked after the API key and the idempotency key, and before the body", async () => {
      const bad = { "x-event-type": "a\tb", "x-owner-id": "a\tb", "x-tags": "" };
      const nameOf = async (own: OutgoingHttpHeaders) => (await post(own, { body: "no json" })).text.split(":")[0];
      expect((await post({ ...bad, "x-api-key": "rk_none" })).status).to.equal(401);
      expect(await nameOf({ ...bad, "x-idempotency-key": "a\tb" })).to.equal("X-Idempotency-Key");
      expect(await nameOf(bad)).to.equal("X-Event-Type");
      expect(await nameOf({ ...bad, "x-event-type": "a" })).to.equal("X-Owner-Id");
      expect(await nameOf({ "x-tags": "" })).to.equal("X-Tags");
      expect(await nameOf({ "x-tags": "a=1" })).to.equal("body");
    });

    it("are checked before a known idempotency key is answered", async () => {
      const key = { "x-idempotency-key": unique("known") };
      expect((await post(key)).status).to.equal(202);
      expect((await post({ ...key, "x-tags": "A=1" })).status).to.equal(400);
      expect((await post({ ...key, "x-tags": "a=1" })).status).to.equal(200);
    });
  });
}
