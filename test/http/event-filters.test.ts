import { randomUUID } from "node:crypto";
import { expect } from "chai";
import { eventIdOf, keyOfEvent } from "../../src/kernel/domain/event-id.ts";
import { acceptEvent } from "../support/accepted-event.ts";
import { openAccount, openIngest, unique, type Account } from "../support/accounts.ts";
import { startApi, type TestApi } from "../support/api.ts";
import { describeOnEngines, type SharedEngines } from "../support/api-engines.ts";
import { http } from "../support/http.ts";
import { Deliveries } from "../support/outcomes.ts";

const statuses = ["Pending", "Processing", "Succeeded", "Failed", "WaitingRetry", "CriticalFailure", "Cancelled"];
const nowhere = "00000000-0000-7000-8000-000000000000";

/** An id as the relay makes them for requests at a moment. */
function timedId(ms: number): string {
  return eventIdOf(ms, "7abc-8def-0123456789ab");
}

describeOnEngines("filters of events", (freshEngines) => {
  let engines: SharedEngines;
  let api: TestApi;
  let one: Account;
  let mine: Awaited<ReturnType<typeof openIngest>>;
  let second: Awaited<ReturnType<typeof openIngest>>;
  let shop: { id: string; path: string };
  const ids: string[] = [];
  const times: string[] = [];
  const requests: string[] = [];
  /** Times before and after events came to an end. */
  const ends: string[] = [];
  const afterEnds: string[] = [];
  before(async () => {
    engines = await freshEngines();
    api = await startApi(engines);
    one = await openAccount(api.url);
    mine = await openIngest(one.owner.client, one.tenantId);
    second = await openIngest(one.owner.client, one.tenantId);
    const { id, ingestToken } = await one.owner.client.api.createSender(
      { name: "shop", destinationUrlId: mine.destinationId });
    shop = { id, path: `/api/v1/ingest/${one.tenantId}/${ingestToken}` };
    const paid = { "x-event-type": "order.paid" };
    await accept({});
    const requestId = timedId(engines.clock.now() + 60_000);
    await accept({ ...paid, "x-owner-id": "customer 42", "x-tags": "order=7,region=eu", "x-request-id": requestId });
    await accept({ ...paid, "x-tags": "order=8,region=eu,url=a:b/c" }, shop.path);
    await accept({ "x-event-type": "order.sent", "x-owner-id": "customer 42", "x-request-id": "CHG-4711" }, shop.path);
    await accept({ ...paid, "x-owner-id": "customer 43", "x-tags": "order=7", "x-request-id": nowhere }, second.path);
    ids.push(await testEvent());
    const deliveries = new Deliveries(api.world);
    for (const end of [
      () => deliveries.succeed(ids[1]!), () => deliveries.fail(ids[2]!, 1),
      () => one.owner.client.post(`/api/v1/events/${ids[4]}/cancel`),
    ]) {
      engines.clock.advance(60_000);
      ends.push(new Date(engines.clock.now()).toISOString());
      await end();
      afterEnds.push(new Date(engines.clock.now()).toISOString());
    }
    // Another tenant's events have the same labels.
    const other = await openAccount(api.url);
    const theirs = await openIngest(other.owner.client, other.tenantId);
    const headers = { "x-api-key": theirs.apiKey, ...paid, "x-owner-id": "customer 42", "x-tags": "order=7" };
    expect((await http("POST", api.url + theirs.path, { json: {}, headers })).status).to.equal(202);
  });
  after(() => api.close());
  afterEach(() => expect(api.errors).to.deep.equal([]));

  /** Posts an event at a moment of its own. */
  async function accept(own: Readonly<Record<string, string>>, path = mine.path): Promise<void> {
    engines.clock.advance(60_000);
    const answer = await http("POST", api.url + path, { json: {}, headers: { "x-api-key": mine.apiKey, ...own } });
    expect(answer.status, answer.text).to.equal(202);
    ids.push(String(answer.json["eventId"]));
    times.push(String(answer.json["acceptedAt"]));
    requests.push(answer.headers.get("x-request-id")!);
  }

  /** A test event to the first destination. */
  async function testEvent(): Promise<string> {
    engines.clock.advance(60_000);
    const now = engines.clock.now();
    const eventId = eventIdOf(now, keyOfEvent(randomUUID()));
    const data = { tenantId: one.tenantId, destinationId: mine.destinationId, eventType: "ping", test: true as const };
    await acceptEvent(api.world.store, new Date(now).toISOString(), eventId, data);
    return eventId;
  }

  const list = async (query: string) => {
    const answer = await one.viewer.client.get(`/api/v1/events?${query}`);
    expect(answer.status, answer.text).to.equal(200);
    return answer.json as unknown as { total: number; items: { id: string }[]; nextCursor: string | null };
  };
  const numbers = (found: readonly { id: string }[]) => found.map(({ id }) => ids.indexOf(id));
  const totals = async (query: string) => {
    const answer = await one.viewer.client.get(`/api/v1/events/totals?${query}`);
    expect(answer.status, answer.text).to.equal(200);
    return answer.json as unknown as { total: number; statuses: Record<string, number> };
  };

  const scanned = async (path: string) => {
    const answer = await one.viewer.client.get(`/api/v1/events/${path}`);
    expect(answer.status, answer.text).to.equal(200);
    const lines = answer.text.trimEnd().split("\n").map((line) => JSON.parse(line) as { item?: { id: string } });
    expect(lines.at(-1)).to.have.property("end", true);
    return lines.flatMap(({ item }) => item ?? []);
  };

  const places: Readonly<Record<string, () => string>> = {
    shop: () => shop.id, SHOP: () => shop.id.toUpperCase(), nobody: () => nowhere, first: () => mine.destinationId,
    second: () => second.destinationId, "every status": () => statuses.join(","),
    "other request": () => requests[0]!.replace(/.$/, (last) => (last === "0" ? "1" : "0")),
  };
  const listsOfTimes: Readonly<Record<string, readonly string[]>> = {
    "time ": times, "end ": ends, "until ": afterEnds,
  };
  const filled = (query: string) => query.replace(/\{(\w+ )?(\w+)\}/g, (braced, list: string | undefined, name: string) =>
    places[braced.slice(1, -1)]?.() ?? (listsOfTimes[list ?? ""] ?? requests)[Number(name)]!);

  /** Query, and the numbers of the events found, oldest first; the last one is the test event. */
  const table: readonly (readonly [query: string, found: readonly number[]])[] = [
    ["", [0, 1, 2, 3, 4, 5]],
    ["Status=Succeeded", [1]],
    ["Status=Succeeded,Cancelled", [1, 4]],
    ["Status=Pending,CriticalFailure,Pending", [0, 2, 3, 5]],
    ["Status={every status}", [0, 1, 2, 3, 4, 5]],
    ["Status=Failed,Processing", []],
    ["SenderId={shop}", [2, 3]],
    ["SenderId={SHOP}", [2, 3]],
    ["SenderId={nobody}", []],
    ["EventType=order.paid", [1, 2, 4]],
    ["EventType=Order.paid", []],
    ["EventType=ping", [5]],
    ["OwnerId=customer%2042", [1, 3]],
    ["MessageId={nobody}", []],
    ["Tag=order:7", [1, 4]],
    ["Tag=order:9", []],
    ["Tag=url:a:b/c", [2]],
    ["Tag=region:eu&Tag=order:7", [1]],
    ["Tag=region:eu&Tag=order:8&Tag=url:a:b/c", [2]],
    ["Tag=order:7&Tag=order:8", []],
    ["CorrelationId={request 1}", [1]],
    ["CorrelationId=CHG-4711", [3]],
    ["CorrelationId=chg-4711", []],
    ["CorrelationId={nobody}", [4]],
    ["CorrelationId={other request}", []],
    ["Test=true", [5]],
    ["Test=false", [0, 1, 2, 3, 4]],
    ["DestinationUrlId={first}&Test=true", [5]],
    ["DestinationUrlId={second}&Test=true", []],
    ["DestinationUrlId={second}&EventType=order.paid", [4]],
    ["EventType=order.paid&Status=Succeeded,CriticalFailure&Test=false", [1, 2]],
    ["EventType=order.paid&OwnerId=customer 42&Tag=region:eu&SenderId={shop}", []],
    ["EventType=order.paid&SenderId={shop}&Status=CriticalFailure", [2]],
    ["EventType=order.paid&From={time 2}", [2, 4]],
    ["EventType=order.paid&From={time 1}&To={time 2}", [1, 2]],
    ["OwnerId=customer 42&To={time 1}", [1]],
    ["Test=false&From={time 3}", [3, 4]],
    ["Test=true&To={time 4}", []],
    ["CorrelationId={request 1}&EventType=order.paid", [1]],
    ["CorrelationId={request 1}&Status=Pending", []],
    ["CorrelationId=CHG-4711&From={time 4}", []],
    ["FinishedFrom={end 0}", [1, 2, 4]],
    ["FinishedFrom={end 1}", [2, 4]],
    ["FinishedTo={until 0}", [1]],
    ["FinishedTo={time 4}", []],
    ["FinishedFrom={end 1}&FinishedTo={until 1}", [2]],
    ["FinishedFrom={end 2}&FinishedTo={until 0}", []],
    ["FinishedFrom={end 0}&Status=Pending", []],
    ["FinishedFrom={time 1}&Status=Pending,Cancelled", [4]],
    ["FinishedFrom={end 0}&DestinationUrlId={second}", [4]],
    ["FinishedTo={until 2}&EventType=order.paid&From={time 2}", [2, 4]],
    ["FinishedTo={until 2}&Test=true", []],
    ["ReplayId={nobody}", []],
  ];
  for (const [asked, found] of table) {
    it(`find the events by ${asked || "nothing"}, in lists, totals, searches and exports`, async () => {
      const query = filled(asked);
      const newest = found.toReversed();
      const { total, items } = await list(query);
      expect([total, numbers(items)]).to.deep.equal([found.length, newest]);
      for (const [order, sorted] of [["TpOrd=Asc", found], ["TpOrd=Desc&CpOrd=id", newest]] as const) {
        const all: { id: string }[] = [];
        for (let cursor = ""; all.length < found.length;) {
          const page = await list(`${query}&${order}&Qt=2${cursor && `&Cursor=${cursor}`}`);
          expect(page.total).to.equal(found.length);
          all.push(...page.items);
          expect(page.nextCursor === null).to.equal(all.length === found.length);
          cursor = page.nextCursor ?? "";
        }
        expect(numbers(all)).to.deep.equal(sorted);
        expect(numbers((await list(`${query}&${order}&Qt=2&Pg=2`)).items)).to.deep.equal(sorted.slice(2, 4));
      }
      expect(numbers(await scanned(`search?Text=%7B&${query}`)), "search").to.deep.equal(newest);
      expect(numbers(await scanned(`export?${query}`)), "export").to.deep.equal(found);
      const counted = await totals(query);
      const plain = query.includes("Test=") ? found : found.filter((number) => number !== 5);
      expect(counted.total).to.equal(plain.length);
      const test = query.includes("Test=") ? "" : "&Test=false";
      for (const status of statuses) {
        const others = query.replace(/(^|&)Status=[^&]*/, "");
        const own = numbers((await list(`${others}&Status=${status}${test}`)).items);
        expect(counted.statuses[status], status).to.equal(own.filter((number) => plain.includes(number)).length);
      }
    });
  }

  it("hold for the event of an idempotency key, too", async () => {
    const key = unique("found");
    await accept({ "x-idempotency-key": key, "x-event-type": "keyed", "x-tags": "k=1" });
    const own = `IdempotencyKey=${key}`;
    const holding = [
      "EventType=keyed", "Tag=k:1", "Test=false", "Status=Pending,Failed", `CorrelationId=${requests.at(-1)}`,
    ];
    for (const filter of [...holding, holding.join("&")]) {
      expect((await list(`${own}&${filter}`)).total, filter).to.equal(1);
      expect((await totals(`${own}&${filter}`)).total, filter).to.equal(1);
      expect(await scanned(`search?Text=%7B&${own}&${filter}`), filter).to.have.length(1);
    }
    expect(await totals(own)).to.deep.include({ total: 1 }).and.to.have.nested.include({ "statuses.Pending": 1 });
    expect(await scanned("search?Text=%7B&IdempotencyKey=nobody")).to.deep.equal([]);
    for (const filter of [
      "EventType=other", "Tag=k:2", "Tag=k:1&Tag=a:1", "Test=true", "Status=Failed,Cancelled", "CorrelationId=CHG-4711",
      `SenderId=${shop.id}`, "OwnerId=customer 42", `MessageId=${nowhere}`, `ReplayId=${nowhere}`,
      `FinishedFrom=${times[0]}`,
    ]) {
      expect((await list(`${own}&${filter}`)).total, filter).to.equal(0);
      expect((await totals(`${own}&${filter}`)).total, filter).to.equal(0);
      expect(await scanned(`search?Text=%7B&${own}&${filter}`), filter).to.deep.equal([]);
    }
  });

  it("give 400 for a bad value, and name the parameter", async () => {
    const bad: readonly [name: string, values: readonly string[]][] = [
      ["Status", ["", ",", "Pending,", "Pending,pending", "Pending, Failed", "Open"]],
      ["SenderId", ["", "x", nowhere.slice(1)]],
      ["MessageId", ["", "x"]],
      ["EventType", ["", "t".repeat(256), "a%09b", "a%C2%85b"]],
      ["OwnerId", ["", "o".repeat(256), "a%0Ab"]],
      ["Tag", ["", "order", ":7", "order:", "Order:7", "a:1,b", "a:%07", `a:${"v".repeat(129)}`, "a:1&Tag="]],
      ["CorrelationId", ["", "a b", "c".repeat(129)]],
      ["Test", ["", "1", "True"]],
      ["FinishedFrom", ["", "x", "2026-02-30"]],
      ["FinishedTo", ["", "x"]],
      ["ReplayId", ["", "x"]],
    ];
    for (const [name, values] of bad) {
      for (const value of values) {
        for (const path of ["events?", "events/totals?", "events/search?Text=a&", "events/export?"]) {
          const answer = await one.viewer.client.get(`/api/v1/${path}${name}=${value}`);
          expect([answer.status, answer.text.split(":")[0]], `${path} ${name}=${value}`).to.deep.equal([400, name]);
        }
      }
    }
    for (const query of ["Tag=a:1&Tag=a:1&Tag=a:1&Tag=a:1", "Tag=a:1&tag=a:1"]) {
      expect((await one.viewer.client.get(`/api/v1/events?${query}`)).status, query).to.equal(400);
    }
    for (const name of ["Status", "SenderId", "EventType", "OwnerId", "MessageId", "CorrelationId", "Test"]) {
      const answer = await one.viewer.client.get(`/api/v1/events?${name}=a&${name}=a`);
      expect(answer.text).to.equal(`${name}: must be given once`);
    }
    for (const query of ["status=Pending", "eventType=a", "TEST=true"]) {
      expect((await one.viewer.client.get(`/api/v1/events?${query}`)).status, query).to.equal(400);
    }
  });

  it("find nothing of purged events, at once, and others still", async () => {
    const target = await openIngest(one.owner.client, one.tenantId);
    const before = ids.length;
    for (const type of ["old", "old", "new"]) await accept({ "x-event-type": type, "x-tags": "p=1" }, target.path);
    const deliveries = new Deliveries(api.world);
    await deliveries.succeed(ids[before]!);
    await deliveries.succeed(ids[before + 1]!);
    await one.admin.client.post("/api/v1/events/purge", { destinationUrlId: target.destinationId });
    expect(await list("EventType=old")).to.include({ total: 0 });
    expect(numbers((await list("Tag=p:1")).items)).to.deep.equal([before + 2]);
    expect(await totals("Tag=p:1")).to.include({ total: 1 });
  });
});
