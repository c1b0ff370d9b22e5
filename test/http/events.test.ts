import { expect } from "chai";
import { streams } from "../../src/kernel/domain/streams.ts";
import { timestamp } from "../../src/kernel/domain/time.ts";
import { openAccount, openIngest, unique, type Account } from "../support/accounts.ts";
import { startApi, type TestApi } from "../support/api.ts";
import { describeOnEngines } from "../support/api-engines.ts";
import { http, shaped } from "../support/http.ts";
import { Deliveries } from "../support/outcomes.ts";

const nowhere = "00000000-0000-7000-8000-000000000000";
const path = (id: string, rest = "") => `/api/v1/events/${id}${rest}`;

describeOnEngines("events", (freshEngines) => {
  let api: TestApi;
  let one: Account;
  let other: Account;
  let mine: Awaited<ReturnType<typeof openIngest>>;
  let deliveries: Deliveries;
  before(async () => {
    api = await startApi(await freshEngines());
    [one, other] = await Promise.all([openAccount(api.url), openAccount(api.url)]);
    mine = await openIngest(one.owner.client, one.tenantId);
    deliveries = new Deliveries(api.world);
  });
  after(() => api.close());
  afterEach(() => expect(api.errors).to.deep.equal([]));

  const accept = async (to = mine) => {
    const answer = await http("POST", api.url + to.path, { json: { n: 1 }, headers: { "x-api-key": to.apiKey } });
    return answer.json["eventId"] as string;
  };
  const exhausted = async (to = mine) => {
    const id = await accept(to);
    await deliveries.fail(id, 1);
    return id;
  };

  it("show their progress", async () => {
    const id = await accept();
    await deliveries.fail(id, 5);
    const waiting = (await one.owner.client.get(path(id))).json;
    expect(waiting).to.include({ status: "WaitingRetry", currentRetryCount: 1, deliveredAt: null });
    expect(Date.parse(String(waiting["nextAttemptAt"]))).to.be.greaterThan(Date.parse(String(waiting["acceptedAt"])));
    const done = await accept();
    await deliveries.succeed(done);
    const read = shaped(await one.owner.client.get(path(done)), "event");
    expect(read).to.include({ status: "Succeeded", nextAttemptAt: null });
    expect(read["deliveredAt"]).to.be.a("string");
  });

  it("show their payloads in lists, each read at the known position of the event's first entry", async () => {
    const id = await accept();
    const { store } = api.world;
    const [accepted] = await store.readStream(streams.event(id));
    const asked: unknown[] = [];
    const readStream = store.readStream.bind(store);
    store.readStream = (...read) => {
      asked.push(read);
      return readStream(...read);
    };
    try {
      const { items } = (await one.viewer.client.get("/api/v1/events?Qt=1")).json as { items: unknown[] };
      expect(items).to.have.length(1).and.to.have.nested.property("[0]").that.includes({ id, payload: '{"n":1}' });
      expect(asked).to.deep.equal([[streams.event(id), { limit: 1, beginsAt: accepted!.position }]]);
    } finally {
      Reflect.deleteProperty(store, "readStream");
    }
  });

  describe("are found by their idempotency key", () => {
    const send = (key: string, to = mine) => {
      const utf8 = Buffer.from(key, "utf8").toString("latin1");
      const headers = { "x-api-key": to.apiKey, "x-idempotency-key": utf8 };
      return http("POST", api.url + to.path, { json: {}, headers });
    };
    const list = (query: Readonly<Record<string, string>>, by = one.viewer.client) =>
      by.get(`/api/v1/events?${new URLSearchParams(query).toString()}`);
    const nothing = { total: 0, items: [], nextCursor: null };
    const found = async (...asked: Parameters<typeof list>) => shaped(await list(...asked), "event-page");

    it("at once and whole, by their own tenant only", async () => {
      for (const key of ["out-2", "a b+c&d=%", "schlüssel", "\u{1f600}".repeat(255)]) {
        const id = String((await send(key)).json["eventId"]);
        expect(await found({ IdempotencyKey: key })).to.deep.equal({
          total: 1, items: [(await one.viewer.client.get(path(id))).json], nextCursor: null,
        });
        expect(await found({ IdempotencyKey: key }, other.owner.client)).to.deep.equal(nothing);
      }
      expect(await found({ IdempotencyKey: "out" })).to.deep.equal(nothing);
    });

    it("if the other filters match them, too", async () => {
      const key = unique("narrowed");
      const { eventId: id, acceptedAt } = (await send(key)).json as Record<string, string>;
      await deliveries.succeed(id ?? "");
      const at = Date.parse(acceptedAt ?? "");
      const table: [Readonly<Record<string, string>>, number][] = [
        [{ Status: "Succeeded" }, 1],
        [{ Status: "Pending" }, 0],
        [{ DestinationUrlId: mine.destinationId.toUpperCase() }, 1],
        [{ DestinationUrlId: nowhere }, 0],
        [{ From: timestamp(at), To: timestamp(at) }, 1],
        [{ From: timestamp(at + 1) }, 0],
        [{ To: timestamp(at - 1) }, 0],
        [{ Status: "Succeeded", DestinationUrlId: mine.destinationId, From: timestamp(at), CpOrd: "id" }, 1],
      ];
      for (const [query, total] of table) {
        const page = await found({ IdempotencyKey: key, ...query });
        expect(page["total"], JSON.stringify(query)).to.equal(total);
        expect(page["items"], JSON.stringify(query)).to.have.length(total);
      }
      expect(await found({ IdempotencyKey: key, Pg: "2" })).to.deep.equal({ total: 1, items: [], nextCursor: null });
    });

    it("and an invalid key gives 400", async () => {
      const controls = "must not contain control characters";
      const table = [
        ["", "must not be empty"], ["k".repeat(256), "must be at most 255 characters long"], ["a\tb", controls],
        ["a\u0085b", controls],
      ] as const;
      for (const [key, problem] of table) {
        const { status, text } = await list({ IdempotencyKey: key });
        expect({ status, text }, key).to.deep.equal({ status: 400, text: `IdempotencyKey: ${problem}` });
      }
    });
  });

  describe("attempts", () => {
    it("are listed with their request and response", async () => {
      const id = await exhausted();
      await one.owner.client.post(path(id, "/replay"));
      await deliveries.succeed(id);
      await one.owner.client.post(path(id, "/replay"));
      const page = shaped(await one.viewer.client.get(path(id, "/attempts")), "attempt-page");
      const items = page["items"] as Record<string, unknown>[];
      expect(page["total"]).to.equal(2);
      expect(
        items.map(({ number, outcome, statusCode, reason, error, durationMs }) => ({
          number,
          outcome,
          statusCode,
          reason,
          error,
          durationMs,
        })),
      ).to.deep.equal([
        { number: 1, outcome: "failed", statusCode: 500, reason: "status", error: "answered 500", durationMs: 34 },
        { number: 2, outcome: "succeeded", statusCode: 204, reason: null, error: null, durationMs: 12 },
      ]);
      expect(items[0]).to.deep.include({
        destinationUrl: "https://receiver.example/hook",
        responseBody: "seen",
        truncated: false,
        responseHeaders: { server: "test" },
        requestHeaders: { "Content-Type": "application/json", Authorization: "Bearer ***" },
      });
    });

    it("have an unknown outcome if their worker was lost", async () => {
      const id = await accept();
      await deliveries.start(id);
      await deliveries.lose(id);
      const page = shaped(await one.owner.client.get(path(id, "/attempts")), "attempt-page");
      const [item] = page["items"] as Record<string, unknown>[];
      expect(item).to.include({ outcome: "unknown", durationMs: null, requestHeaders: null, responseHeaders: null });
      expect(item?.["finishedAt"]).to.be.a("string");
    });

    it("are listed while they run, in pages, in either direction", async () => {
      const id = await accept();
      await deliveries.start(id);
      const { items } = (await one.owner.client.get(path(id, "/attempts"))).json as { items: object[] };
      expect(items[0]).to.include({ number: 1, outcome: "in progress", finishedAt: null, statusCode: null });
      expect(items[0]).to.include({ reason: null, error: null });
      const two = await exhausted();
      await one.owner.client.post(path(two, "/replay"));
      await deliveries.fail(two, 1);
      const numbers = async (query: string) =>
        ((await one.owner.client.get(path(two, `/attempts${query}`))).json["items"] as { number: number }[]).map(
          ({ number }) => number,
        );
      expect(await numbers("?TpOrd=desc")).to.deep.equal([2, 1]);
      expect(await numbers("?Qt=1&Pg=2")).to.deep.equal([2]);
      expect(await numbers("?Pg=3")).to.deep.equal([]);
      expect((await one.owner.client.get(path(two, "/attempts?CpOrd=outcome"))).status).to.equal(400);
    });
  });

  describe("history", () => {
    it("has every fact in order, with its actor and time, and no secret", async () => {
      const id = await exhausted();
      await one.developer.client.call("POST", path(id, "/replay"), { headers: { "x-request-id": "my-request" } });
      const answer = await one.viewer.client.get(path(id, "/history"));
      const { total, items } = shaped(answer, "history-page") as { total: number; items: Record<string, unknown>[] };
      expect(total).to.equal(5);
      expect(items.map(({ type, revision }) => [type, revision])).to.deep.equal([
        ["EventAccepted", 0],
        ["DeliveryAttemptStarted", 1],
        ["DeliveryFailed", 2],
        ["DeliveryExhausted", 3],
        ["EventReplayed", 4],
      ]);
      expect(items[0]?.["actor"]).to.include({ type: "apiKey", id: mine.apiKeyId });
      expect(items[4]?.["actor"]).to.include({ type: "user", id: one.developer.id, role: "Developer" });
      const positions = items.map(({ position }) => String(position));
      expect(positions).to.deep.equal([...positions].sort());
      for (const secret of [mine.apiKey, mine.ingestToken, one.webhookSecret])
        expect(answer.text).not.to.include(secret);
    });

    it("comes in pages", async () => {
      const id = await exhausted();
      const page = (await one.owner.client.get(path(id, "/history?Qt=2&Pg=2"))).json as {
        total: number;
        items: { type: string }[];
      };
      expect([page.total, page.items.map(({ type }) => type)]).to.deep.equal([
        4,
        ["DeliveryFailed", "DeliveryExhausted"],
      ]);
    });
  });

  describe("replay", () => {
    it("gives 200 and makes the event due again", async () => {
      const id = await exhausted();
      expect((await one.owner.client.get(path(id))).json).to.include({
        status: "CriticalFailure",
        nextAttemptAt: null,
        currentRetryCount: 1,
      });
      const before = api.world.clock.now();
      const answer = await one.developer.client.post(path(id, "/replay"));
      expect(answer.status).to.equal(200);
      expect(shaped(answer, "event")).to.include({ id, status: "Pending", currentRetryCount: 0 });
      expect(Date.parse(String(answer.json["nextAttemptAt"]))).to.be.within(before, api.world.clock.now());
      expect((await one.owner.client.get(path(id))).text).to.equal(answer.text);
    });

    it("gives 400 in any other status, but first 403 to a role that may not replay", async () => {
      const pending = await accept();
      const processing = await accept();
      await deliveries.start(processing);
      const succeeded = await accept();
      await deliveries.succeed(succeeded);
      const waiting = await accept();
      await deliveries.fail(waiting, 2);
      const cancelled = await accept();
      await one.owner.client.post(path(cancelled, "/cancel"));
      for (const { client } of [one.viewer, other.owner]) {
        expect((await client.post(path(pending, "/replay"))).status).to.equal(403);
      }
      for (const id of [pending, processing, succeeded, waiting, cancelled]) {
        expect((await one.owner.client.post(path(id, "/replay"))).status).to.equal(400);
      }
    });

    it("gives 422 when the destination is gone", async () => {
      const gone = await openIngest(one.owner.client, one.tenantId);
      const id = await exhausted(gone);
      await one.owner.client.delete(`/api/v1/destinations/${gone.destinationId}`);
      expect((await one.owner.client.post(path(id, "/replay"))).status).to.equal(422);
      expect((await one.owner.client.get(path(id, "/history"))).status).to.equal(200);
    });

    it("gives 422 for an event with very many attempts", async () => {
      const id = await accept();
      await deliveries.giveUpAfter(id, 1_000);
      const answer = await one.owner.client.post(path(id, "/replay"));
      expect([answer.status, answer.text]).to.deep.equal(
        [422, "the event had 1000 attempts; from 1000 on it cannot be replayed"]);
      expect((await one.owner.client.get(path(id))).json["status"]).to.equal("CriticalFailure");
    });

    it("happens once among parallel requests", async () => {
      const id = await exhausted();
      const answers = await Promise.all(Array.from({ length: 10 }, () => one.owner.client.post(path(id, "/replay"))));
      expect(answers.map(({ status }) => status).sort()).to.deep.equal([200, ...Array.from({ length: 9 }, () => 400)]);
    });
  });

  describe("cancellation", () => {
    it("gives 200 for a waiting event", async () => {
      const waiting = await accept();
      await deliveries.fail(waiting, 2);
      for (const id of [await accept(), waiting]) {
        const answer = await one.developer.client.post(path(id, "/cancel"));
        expect(answer.status).to.equal(200);
        expect(shaped(answer, "event")).to.include({ id, status: "Cancelled", nextAttemptAt: null });
      }
    });

    it("gives 400 for an event that is not waiting", async () => {
      const processing = await accept();
      await deliveries.start(processing);
      const succeeded = await accept();
      await deliveries.succeed(succeeded);
      const cancelled = await accept();
      await one.owner.client.post(path(cancelled, "/cancel"));
      for (const id of [processing, succeeded, await exhausted(), cancelled]) {
        expect((await one.owner.client.post(path(id, "/cancel"))).status).to.equal(400);
      }
    });
  });
});
