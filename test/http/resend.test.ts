import { expect } from "chai";
import { openAccount, openIngest, type Account } from "../support/accounts.ts";
import { startApi, type TestApi } from "../support/api.ts";
import { describeOnEngines } from "../support/api-engines.ts";
import { http, shaped } from "../support/http.ts";
import { Deliveries } from "../support/outcomes.ts";

const path = (id: string, rest = "") => `/api/v1/events/${id}${rest}`;

describeOnEngines("single events", (freshEngines) => {
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
  const made = {
    Pending: async () => accept(),
    Processing: async () => {
      const id = await accept();
      await deliveries.start(id);
      return id;
    },
    Succeeded: async () => {
      const id = await accept();
      await deliveries.succeed(id);
      return id;
    },
    WaitingRetry: async () => {
      const id = await accept();
      await deliveries.fail(id, 2);
      return id;
    },
    CriticalFailure: async () => {
      const id = await accept();
      await deliveries.fail(id, 1);
      return id;
    },
    Cancelled: async () => {
      const id = await accept();
      await one.owner.client.post(path(id, "/cancel"));
      return id;
    },
  };
  const get = async (id: string) => (await one.viewer.client.get(path(id))).json;
  const totals = async () => {
    const { json } = await one.viewer.client.get(`/api/v1/events/totals?DestinationUrlId=${mine.destinationId}`);
    return json["statuses"] as Readonly<Record<string, number>>;
  };

  describe("are resent", () => {
    it("from Succeeded, with the last success and the attempts' numbers", async () => {
      const id = await made.Succeeded();
      const [delivered, before] = [await get(id), await totals()];
      const from = api.world.clock.now();
      const answer = await one.developer.client.post(path(id, "/resend"));
      expect(answer.status, answer.text).to.equal(200);
      expect(shaped(answer, "event")).to.deep.include({
        id, status: "Pending", currentRetryCount: 0, deliveredAt: delivered["deliveredAt"],
      });
      expect(Date.parse(String(answer.json["nextAttemptAt"]))).to.be.within(from, api.world.clock.now());
      expect((await one.owner.client.get(path(id))).text).to.equal(answer.text);
      const counted = await totals();
      expect([counted["Succeeded"], counted["Pending"]])
        .to.deep.equal([before["Succeeded"]! - 1, before["Pending"]! + 1]);
      await deliveries.succeed(id);
      const { items } = (await one.viewer.client.get(path(id, "/attempts"))).json as { items: { number: number }[] };
      expect(items.map(({ number }) => number)).to.deep.equal([1, 2]);
    });

    it("from CriticalFailure, as the history tells: by whom, and in which mode", async () => {
      const id = await made.CriticalFailure();
      expect((await one.developer.client.post(path(id, "/resend"))).status).to.equal(200);
      const { items } = (await one.viewer.client.get(path(id, "/history?Qt=100"))).json as { items: object[] };
      expect(items.at(-1)).to.deep.nested.include({
        type: "EventReplayed", "data.mode": "resend", "actor.id": one.developer.id,
      });
      const replayed = await made.CriticalFailure();
      await one.developer.client.post(path(replayed, "/replay"));
      const { items: others } = (await one.viewer.client.get(path(replayed, "/history?Qt=100"))).json as {
        items: object[];
      };
      expect(others.at(-1)).to.deep.nested.include({ type: "EventReplayed", "data.mode": "replay" });
    });

    it("once by each order, also after very many attempts", async () => {
      const id = await made.Succeeded();
      for (let order = 1; order <= 20; order++) {
        expect((await one.developer.client.post(path(id, "/resend"))).status).to.equal(200);
        await deliveries.succeed(id);
      }
      const { total } = (await one.viewer.client.get(path(id, "/attempts"))).json;
      expect(total).to.equal(21);
      const old = await accept();
      await deliveries.giveUpAfter(old, 1_000);
      expect((await one.developer.client.post(path(old, "/replay"))).status).to.equal(422);
      expect((await one.developer.client.post(path(old, "/resend"))).status).to.equal(200);
    });

    it("once among parallel requests", async () => {
      const id = await made.Succeeded();
      const answers = await Promise.all(Array.from({ length: 10 }, () => one.owner.client.post(path(id, "/resend"))));
      expect(answers.map(({ status }) => status).sort()).to.deep.equal([200, ...Array.from({ length: 9 }, () => 400)]);
    });

    it("in no other status: 400, but first 403 to a role that may not", async () => {
      for (const status of ["Pending", "Processing", "WaitingRetry", "Cancelled"] as const) {
        const id = await made[status]();
        for (const { client } of [one.viewer, other.owner]) {
          expect((await client.post(path(id, "/resend"))).status).to.equal(403);
        }
        const answer = await one.owner.client.post(path(id, "/resend"));
        expect([answer.status, answer.text]).to.deep.equal(
          [400, `the event is ${status}; only one in Succeeded or CriticalFailure can be resent`]);
      }
    });

    it("not where the destination is gone: 422", async () => {
      const gone = await openIngest(one.owner.client, one.tenantId);
      const id = await accept(gone);
      await deliveries.succeed(id);
      await one.owner.client.delete(`/api/v1/destinations/${gone.destinationId}`);
      const answer = await one.owner.client.post(path(id, "/resend"));
      expect([answer.status, answer.text]).to.deep.equal([422, "the event's destination was deleted"]);
      expect(await get(id)).to.include({ status: "Succeeded" });
    });

    it("and are not purged as the finished events that they were", async () => {
      const id = await made.Succeeded();
      await one.developer.client.post(path(id, "/resend"));
      expect((await one.owner.client.post("/api/v1/events/purge", { status: "Succeeded" })).status).to.equal(204);
      expect(await get(id)).to.include({ status: "Pending" });
      const { items } = (await one.viewer.client.get("/api/v1/events?Status=Pending&Qt=100")).json as {
        items: { id: string }[];
      };
      expect(items.map((event) => event.id)).to.include(id);
      await deliveries.succeed(id);
      await one.owner.client.post("/api/v1/events/purge", { status: "Succeeded" });
      expect((await one.viewer.client.get(path(id))).status).to.equal(404);
    });
  });

  describe("are retried", () => {
    it("at once, their count kept", async () => {
      const id = await made.WaitingRetry();
      const planned = await get(id);
      const from = api.world.clock.now();
      const answer = await one.developer.client.post(path(id, "/retry"));
      expect(answer.status, answer.text).to.equal(200);
      expect(shaped(answer, "event")).to.include({ id, status: "WaitingRetry", currentRetryCount: 1 });
      const due = Date.parse(String(answer.json["nextAttemptAt"]));
      expect(due).to.be.within(from, api.world.clock.now()).and.lessThan(Date.parse(String(planned["nextAttemptAt"])));
      expect((await one.owner.client.get(path(id))).text).to.equal(answer.text);
      const { items } = (await one.viewer.client.get("/api/v1/events?Status=WaitingRetry&Qt=100")).json as {
        items: { id: string; nextAttemptAt: string }[];
      };
      expect(items.find((event) => event.id === id)).to.include({ nextAttemptAt: answer.json["nextAttemptAt"] });
      await deliveries.succeed(id);
      expect(await get(id)).to.include({ status: "Succeeded" });
    });

    it("without a change where they are due already", async () => {
      const id = await accept();
      await deliveries.fail(id, 2, 0);
      const due = await get(id);
      for (let order = 0; order < 2; order++) {
        const answer = await one.developer.client.post(path(id, "/retry"));
        expect([answer.status, answer.json]).to.deep.equal([200, due]);
      }
    });

    it("in no other status: 400, but first 403 to a role that may not", async () => {
      for (const status of ["Pending", "Processing", "Succeeded", "CriticalFailure", "Cancelled"] as const) {
        const id = await made[status]();
        for (const { client } of [one.viewer, other.owner]) {
          expect((await client.post(path(id, "/retry"))).status).to.equal(403);
        }
        const answer = await one.owner.client.post(path(id, "/retry"));
        expect([answer.status, answer.text]).to.deep.equal(
          [400, `the event is ${status}; only one in WaitingRetry can be retried`]);
      }
    });
  });
});
