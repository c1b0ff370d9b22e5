import { expect } from "chai";
import { openAccount, openIngest, type Account } from "../support/accounts.ts";
import { startApi, type TestApi } from "../support/api.ts";
import { describeOnEngines, type SharedEngines } from "../support/api-engines.ts";
import { http } from "../support/http.ts";
import { Deliveries } from "../support/outcomes.ts";

const nowhere = "00000000-0000-7000-8000-000000000000";

describeOnEngines("filters of bulk acts", (freshEngines) => {
  let engines: SharedEngines;
  let api: TestApi;
  let one: Account;
  let mine: Awaited<ReturnType<typeof openIngest>>;
  let ids: string[];
  let between: string;
  before(async () => {
    engines = await freshEngines();
    api = await startApi(engines);
  });
  after(() => api.close());
  afterEach(() => expect(api.errors).to.deep.equal([]));

  /** Three events; the last two are given up where the act takes finished ones. */
  async function prepare(finished: boolean): Promise<void> {
    one = await openAccount(api.url);
    mine = await openIngest(one.owner.client, one.tenantId);
    ids = [];
    for (const headers of [
      { "x-owner-id": "customer 1", "x-tags": "order=1,region=eu", "x-request-id": "first" },
      { "x-owner-id": "customer 2", "x-tags": "order=2,region=eu", "x-request-id": "second", "x-event-type": "paid" },
      { "x-owner-id": "customer 2", "x-tags": "order=3,region=us", "x-request-id": "third" },
    ]) {
      engines.clock.advance(1_000);
      const own = { "x-api-key": mine.apiKey, ...headers };
      const answer = await http("POST", api.url + mine.path, { json: {}, headers: own });
      ids.push(String(answer.json["eventId"]));
    }
    if (!finished) return;
    const deliveries = new Deliveries(api.world);
    await deliveries.fail(ids[1]!, 1);
    engines.clock.advance(120_000);
    between = new Date(engines.clock.now()).toISOString();
    engines.clock.advance(1_000);
    await deliveries.fail(ids[2]!, 1);
  }

  const statuses = async () => {
    const { items } = await one.viewer.client.api.listEvents({ TpOrd: "Asc" });
    return ids.map((id) => items.find((item) => item.id === id)?.status ?? "gone");
  };
  const act = async (path: string, body: object) => {
    const answer = await one.admin.client.post(`/api/v1/${path}`, body);
    expect(answer.status, `${path} ${answer.text}`).to.be.within(200, 204);
    return answer.text === "" ? {} : answer.json as { matched?: number };
  };

  const filters = (): readonly (readonly [object, readonly number[]])[] => [
    [{}, [1, 2]],
    [{ ownerId: "customer 2" }, [1, 2]],
    [{ ownerId: "customer 1" }, []],
    [{ messageId: nowhere }, []],
    [{ correlationId: "third" }, [2]],
    [{ tags: { region: "eu" } }, [1]],
    [{ tags: { region: "eu", order: "2" } }, [1]],
    [{ tags: { region: "eu", order: "3" } }, []],
    [{ finishedFrom: between }, [2]],
    [{ finishedTo: between }, [1]],
    [{ finishedFrom: between, ownerId: "customer 2", tags: { order: "3" } }, [2]],
  ];

  for (const path of ["replays", "events/replay", "events/purge"]) {
    it(`are those of the list, in ${path}: counted by a dry run`, async () => {
      await prepare(true);
      const kinds: typeof filters = path === "replays" ? () => [] : () => [[{ eventType: "paid" }, [1]]];
      for (const [body, found] of [...filters(), ...kinds()]) {
        expect((await act(path, { ...body, dryRun: true })).matched, JSON.stringify(body)).to.equal(found.length);
      }
    });
  }

  it("narrow a bulk replay", async () => {
    await prepare(true);
    await act("events/replay", { tags: { region: "us" } });
    expect(await statuses()).to.deep.equal(["Pending", "CriticalFailure", "Pending"]);
  });

  it("narrow a purge, for lists and for the event itself", async () => {
    await prepare(true);
    await act("events/purge", { finishedFrom: between, correlationId: "third" });
    expect(await statuses()).to.deep.equal(["Pending", "CriticalFailure", "gone"]);
    const found = await Promise.all(ids.map((id) => one.viewer.client.get(`/api/v1/events/${id}`)));
    expect(found.map(({ status }) => status)).to.deep.equal([200, 200, 404]);
    await act("events/purge", { ownerId: "customer 1" });
    expect(await statuses()).to.deep.equal(["Pending", "CriticalFailure", "gone"]);
  });

  it("narrow a cancellation, which takes no finished event", async () => {
    await prepare(false);
    for (const [body, matched] of [
      [{ ownerId: "customer 2" }, 2], [{ tags: { order: "1" } }, 1], [{ correlationId: "second" }, 1],
      [{ finishedFrom: "2020-01-01" }, 0], [{ messageId: nowhere }, 0], [{ ids, correlationId: "second" }, 1],
      [{ ids, finishedTo: "2100-01-01" }, 0],
    ] as const) {
      expect((await act("events/cancel", { ...body, dryRun: true })).matched, JSON.stringify(body)).to.equal(matched);
    }
    await act("events/cancel", { tags: { region: "eu" }, ownerId: "customer 2" });
    expect(await statuses()).to.deep.equal(["Pending", "Cancelled", "Pending"]);
  });

  it("give 400 that names the field", async () => {
    await prepare(false);
    for (const path of ["replays", "events/replay", "events/purge", "events/cancel"]) {
      for (const [body, field] of [
        [{ tags: { a: "1", b: "1", c: "1", d: "1" } }, "tags"], [{ tags: {} }, "tags"], [{ tags: { A: "1" } }, "tags"],
        [{ finishedFrom: "x" }, "finishedFrom"], [{ finishedTo: "2026-02-30" }, "finishedTo"],
        [{ ownerId: "" }, "ownerId"], [{ messageId: "x" }, "messageId"],
        [{ correlationId: "a b" }, "correlationId"], [{ OwnerId: "a" }, "OwnerId"],
      ] as const) {
        const answer = await one.admin.client.post(`/api/v1/${path}`, body);
        expect([answer.status, answer.text.split(":")[0]], `${path} ${answer.text}`).to.deep.equal([400, field]);
      }
    }
  });
});
