import { expect } from "chai";
import { openAccount, openIngest, type Account, type Client } from "../support/accounts.ts";
import { startApi, type TestApi } from "../support/api.ts";
import { describeOnEngines, type SharedEngines } from "../support/api-engines.ts";
import { EventStream } from "../support/event-stream.ts";
import { http } from "../support/http.ts";
import { Deliveries } from "../support/outcomes.ts";

describeOnEngines("the stream", (freshEngines) => {
  let engines: SharedEngines;
  let api: TestApi;
  let one: Account;
  let other: Account;
  let ingest: Awaited<ReturnType<typeof openIngest>>;
  let deliveries: Deliveries;
  const opened: EventStream[] = [];

  before(async () => {
    engines = await freshEngines();
    api = await startApi(engines);
    [one, other] = await Promise.all([openAccount(api.url), openAccount(api.url)]);
    ingest = await openIngest(one.owner.client, one.tenantId);
    deliveries = new Deliveries(api.world);
  });
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((stream) => stream.close()));
    expect(api.errors).to.deep.equal([]);
  });
  after(() => api.close());

  const follow = async (
    { url, token = "" }: Client, query = "", headers: Readonly<Record<string, string>> = {},
  ): Promise<EventStream> => {
    const stream = await EventStream.open(`${url}/api/v1/stream${query}`, {
      authorization: `Bearer ${token}`, ...headers,
    });
    opened.push(stream);
    return stream;
  };
  const accept = async ({ path, apiKey } = ingest, json: object = {}): Promise<string> =>
    String((await http("POST", api.url + path, { json, headers: { "x-api-key": apiKey } })).json["eventId"]);

  it("tells how an event moves, from its acceptance on", async () => {
    const stream = await follow(one.viewer.client);
    const eventId = await accept();
    await deliveries.fail(eventId, 2, 0);
    await deliveries.fail(eventId, 2, 0);
    const frames = await stream.until(({ length }) => length >= 7);
    const destinationUrlId = ingest.destinationId;
    const none = { attempt: null, statusCode: null, reason: null, durationMs: null, test: false };
    const common = (type: string, from: string | null, to: string) => ({ eventId, destinationUrlId, type, from, to });
    const told = frames.map(({ event, data: { at, ...data }, id }) => {
      expect(event).to.equal("moved");
      expect(at).to.match(/^\d{4}-.*Z$/);
      expect(id).to.be.a("string");
      return data;
    });
    expect(told).to.deep.equal([
      { ...common("EventAccepted", null, "Pending"), ...none },
      { ...common("DeliveryAttemptStarted", "Pending", "Processing"), ...none, attempt: 1 },
      {
        ...common("DeliveryFailed", "Processing", "Failed"),
        attempt: 1, statusCode: 500, reason: "status", durationMs: 34, test: false,
      },
      { ...common("RetryScheduled", "Failed", "WaitingRetry"), ...none },
      { ...common("DeliveryAttemptStarted", "WaitingRetry", "Processing"), ...none, attempt: 2 },
      {
        ...common("DeliveryFailed", "Processing", "Failed"),
        attempt: 2, statusCode: 500, reason: "status", durationMs: 34, test: false,
      },
      { ...common("DeliveryExhausted", "Failed", "CriticalFailure"), ...none, reason: "max attempts" },
    ]);
  });

  it("sends its headers at once, and tells proxies to hold nothing back", async () => {
    const { status, headers } = await follow(one.viewer.client);
    expect(status).to.equal(200);
    expect(headers.get("content-type")).to.match(/^text\/event-stream(;|$)/);
    expect(headers.get("cache-control")).to.equal("no-store");
    expect(headers.get("x-accel-buffering")).to.equal("no");
  });

  it("shows a tenant nothing of another's", async () => {
    const [own, others] = [await follow(one.viewer.client), await follow(other.viewer.client)];
    await accept();
    const { path, apiKey, destinationId } = await openIngest(other.owner.client, other.tenantId);
    const eventId = await accept({ ...ingest, path, apiKey });
    await others.until((frames) => frames.some(({ event }) => event === "moved"));
    await own.until(({ length }) => length > 0);
    expect(JSON.stringify(own.frames)).not.to.contain(eventId).and.not.to.contain(destinationId);
    expect(JSON.stringify(others.frames)).not.to.contain(ingest.destinationId);
  });
});
