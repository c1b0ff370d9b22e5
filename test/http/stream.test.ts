import { once } from "node:events";
import { connect } from "node:net";
import { expect } from "chai";
import {
  Client as HttpClient, createService, createUser, freshEmail, login, openAccount, openIngest, type Account,
  type Client,
} from "../support/accounts.ts";
import { startApi, type TestApi } from "../support/api.ts";
import { describeOnEngines, type SharedEngines } from "../support/api-engines.ts";
import { attemptEnded, tellCircuit } from "../support/circuits.ts";
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
  const accept = async ({ path, apiKey } = ingest, json: object = {}, more: object = {}): Promise<string> =>
    String((await http("POST", api.url + path, { json, headers: { "x-api-key": apiKey, ...more } })).json["eventId"]);

  it("tells how an event moves, from its acceptance on", async () => {
    const sender = await one.owner.client.api.createSender({ name: "shop", destinationUrlId: ingest.destinationId });
    const path = `/api/v1/ingest/${one.tenantId}/${sender.ingestToken}`;
    const own = { "x-event-type": "order.paid", "x-owner-id": "customer 42" };
    const stream = await follow(one.viewer.client);
    const eventId = await accept({ ...ingest, path }, {}, own);
    await deliveries.fail(eventId, 2, 0);
    await deliveries.fail(eventId, 2, 0);
    const frames = (await stream.until((seen) => seen.filter(({ event }) => event === "moved").length >= 7))
      .filter(({ event }) => event === "moved");
    const later = await follow(one.viewer.client, "?Kinds=event", { "last-event-id": frames[2]?.id ?? "" });
    const resumed = await later.until(({ length }) => length >= 4);
    expect(resumed.map(({ data }) => data["senderId"])).to.deep.equal(Array(4).fill(sender.id));
    const destinationUrlId = ingest.destinationId;
    const kind = { test: false, eventType: "order.paid", ownerId: "customer 42", senderId: sender.id };
    const none = { attempt: null, statusCode: null, reason: null, durationMs: null, ...kind };
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
        attempt: 1, statusCode: 500, reason: "status", durationMs: 34, ...kind,
      },
      { ...common("RetryScheduled", "Failed", "WaitingRetry"), ...none },
      { ...common("DeliveryAttemptStarted", "WaitingRetry", "Processing"), ...none, attempt: 2 },
      {
        ...common("DeliveryFailed", "Processing", "Failed"),
        attempt: 2, statusCode: 500, reason: "status", durationMs: 34, ...kind,
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

  it("ends when its service key is deleted, or its service account is switched off", async () => {
    const { client } = one.owner;
    const endings = [
      (id: string, keyId: string) => client.delete(`/api/v1/service-accounts/${id}/keys/${keyId}`),
      (id: string) => client.patch(`/api/v1/service-accounts/${id}`, { status: "inactive" }),
    ];
    for (const end of endings) {
      const service = await createService(client, "viewer", ["events:read"]);
      const stream = await follow(service.client);
      expect((await end(service.id, service.keyId)).status).to.be.oneOf([200, 204]);
      const frames = await stream.until((seen) => seen.some(({ event }) => event === "end"));
      expect(frames.at(-1)?.data).to.deep.equal({ reason: "session over" });
    }
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

  /** An item of a history as frames have it: without the values that changed, and without names, which may change. */
  const told = (item: object): object => JSON.parse(JSON.stringify(item, (key, value: unknown) =>
    (key === "changes" || key === "name" ? undefined : value))) as object;

  it("tells of circuits and of changes as their histories do, and shows no secret", async () => {
    const stream = await follow(one.viewer.client);
    const { api: developer } = one.developer.client;
    const credentials = { token: "very-secret-token" };
    const { id } = await developer.createDestination({
      url: "https://receiver.example/circuit", authType: "BearerToken", credentials,
    });
    const eventId = await accept();
    await tellCircuit(api.world, { destinationId: id, tenantId: one.tenantId }, attemptEnded(eventId, false));
    await developer.updateDestination({ id }, { status: "active" });
    await stream.until((all) => all.some(({ event, data }) => event === "audit" && data["type"] === "CircuitClosed"));
    const frames = stream.frames.filter(({ event }) => event !== "moved");
    const audit = await one.admin.client.api.listAudit({ SubjectId: id, TpOrd: "Asc" });
    const histories = await one.admin.client.api.listCircuitHistory({ id });
    const subject = { type: "circuit", id };
    expect(frames.filter(({ event }) => event === "audit").map(({ data }) => data))
      .to.deep.equal(audit.items.map(told));
    expect(frames.filter(({ event }) => event === "circuit").map(({ data }) => data))
      .to.deep.equal(histories.items.map((item) => ({ ...told(item), subject, destinationUrlId: id })));
    const closed = frames.filter(({ data }) => data["type"] === "CircuitClosed");
    expect(closed.map(({ event, id: place }) => [event, place])).to.deep.equal(
      [["circuit", null], ["audit", closed[1]?.data["position"]]]);
    expect(JSON.stringify(frames)).not.to.contain(credentials.token);
  });

  it("lets through the wanted kinds, destination and owner only", async () => {
    const { client } = one.viewer;
    const another = await openIngest(one.owner.client, one.tenantId);
    const [circuits, destination, owner] = [
      await follow(client, "?Kinds=circuit,audit"),
      await follow(client, `?DestinationUrlId=${another.destinationId.toUpperCase()}`),
      await follow(client, "?OwnerId=customer-42"),
    ];
    const owned = await accept(ingest, {}, { "x-owner-id": "customer-42" });
    const there = await accept(another, {}, { "x-owner-id": "customer-43" });
    await deliveries.succeed(owned);
    await deliveries.succeed(there);
    await one.developer.client.api.updateDestination({ id: another.destinationId }, { serverRateLimit: 7 });
    await circuits.until(({ length }) => length > 0);
    expect(circuits.frames.map(({ event }) => event)).to.deep.equal(["audit"]);
    await destination.until((frames) => frames.some(({ event }) => event === "audit"));
    expect(destination.frames.map(({ event, data }) => [event, data["eventId"] ?? data["type"]])).to.deep.equal([
      ["moved", there], ["moved", there], ["moved", there], ["audit", "DestinationRateLimitChanged"],
    ]);
    await owner.until(({ length }) => length >= 3);
    expect(owner.frames.map(({ data }) => data["eventId"])).to.deep.equal([owned, owned, owned]);
  });

  it("has the payload of accepted events where it is asked for", async () => {
    const [plain, full] = [await follow(one.viewer.client), await follow(one.viewer.client, "?Payload=true")];
    const eventId = await accept(ingest, { amount: "1.0 ä" });
    await deliveries.succeed(eventId);
    await Promise.all([plain, full].map((stream) => stream.until(({ length }) => length >= 3)));
    expect(full.frames.map(({ data }) => data["payload"])).to.deep.equal(['{"amount":"1.0 ä"}', undefined, undefined]);
    expect(JSON.stringify(plain.frames)).not.to.contain("payload");
  });

  it("goes on behind the last frame, without a gap and without a double, also in another process", async () => {
    const before = await follow(one.viewer.client);
    await accept();
    await before.until(({ length }) => length > 0);
    await before.close();
    const missed = [await accept(), await accept()];
    const there = await startApi(engines);
    try {
      const resumed = await follow(one.viewer.client.at(there.url), "", { "last-event-id": before.lastId ?? "" });
      const later = await accept();
      await resumed.until((frames) => frames.some(({ data }) => data["eventId"] === later));
      expect(resumed.frames.map(({ data }) => data["eventId"])).to.deep.equal([...missed, later]);
      expect(there.errors).to.deep.equal([]);
      await resumed.close();
    } finally {
      await there.close();
    }
  });

  it("does not say the payload of an event that was purged meanwhile", async () => {
    const before = await follow(one.viewer.client);
    await accept();
    await before.until(({ length }) => length > 0);
    await before.close();
    const purged = await accept(ingest, { secret: "forget me" });
    const kept = await accept(ingest, { kept: true });
    await deliveries.succeed(purged);
    await one.admin.client.api.purgeEvents({ status: "Succeeded" });
    const lastId = { "last-event-id": before.lastId ?? "" };
    const resumed = await follow(one.viewer.client, "?Payload=true&Kinds=event", lastId);
    await resumed.until((frames) => frames.some(({ data }) => data["eventId"] === kept));
    expect(JSON.stringify(resumed.frames)).not.to.contain("forget me");
    expect(resumed.frames.find(({ data }) => data["eventId"] === kept)?.data["payload"]).to.equal('{"kept":true}');
  });

  it("refuses parameters that it cannot read", async () => {
    const { token = "", url } = one.viewer.client;
    const ask = (query: string, headers = {}) =>
      http("GET", `${url}/api/v1/stream${query}`, { headers: { authorization: `Bearer ${token}`, ...headers } });
    for (const query of ["Kinds=event,foo", "Kinds=", "Kinds=Event", "Kinds=event,", "kinds=event", "Payload=yes",
      "Payload=true&Payload=true", "DestinationUrlId=x", "OwnerId="]) {
      const { status, text } = await ask(`?${query}`);
      expect([status, text], query).to.deep.equal([400, text]);
      expect(text).to.match(/^(Kinds|kinds|Payload|DestinationUrlId|OwnerId): /);
    }
    for (const id of ["x", "1", "-1", `${await engines.store.head()}x`]) {
      const { status, text } = await ask("", { "last-event-id": id });
      expect([status, text], id).to.deep.equal([400, "Last-Event-ID: must be the id of a frame of this stream"]);
    }
    expect((await http("GET", `${url}/api/v1/stream?Kinds=foo`)).status).to.equal(401);
  });

  it("takes five streams of a caller, and ends the oldest for a sixth", async () => {
    const streams = [];
    for (let count = 0; count < 6; count += 1) streams.push(await follow(one.developer.client));
    expect(streams.map(({ status }) => status)).to.deep.equal(Array.from({ length: 6 }, () => 200));
    const [end] = await streams[0]!.until((frames) => frames.length > 0);
    expect(end).to.deep.include({ event: "end", data: { reason: "displaced" } });
    expect((await follow(one.viewer.client)).status).to.equal(200);
  });

  it("ends at once where its client sends no more, before the head or after it", async () => {
    const { client } = one.developer;
    const head = `GET /api/v1/stream HTTP/1.1\r\nHost: relay\r\nAuthorization: Bearer ${client.token}\r\n\r\n`;
    const early = connect(Number(new URL(api.url).port), "127.0.0.1").resume();
    early.end(head);
    await once(early, "close");
    const late = connect(Number(new URL(api.url).port), "127.0.0.1");
    late.write(head);
    await once(late, "data");
    late.end();
    await once(late.resume(), "close");
  });

  it("ends with its session, also when another process ends that", async () => {
    const there = await startApi(engines);
    const endings: ((id: string, client: Client) => Promise<unknown>)[] = [
      (_id, client) => client.post("/api/v1/auth/logout"),
      (id) => one.owner.client.patch(`/api/v1/users/${id}`, { role: 20 }),
      (id) => one.owner.client.patch(`/api/v1/users/${id}`, { status: 1 }),
      (id, client) => client.patch(`/api/v1/users/${id}`, { password: "another password" }),
      (id) => one.owner.client.delete(`/api/v1/users/${id}`),
    ];
    try {
      for (const end of endings) {
        const person = await createUser(one.owner.client, "developer");
        const colleague = await follow(one.viewer.client);
        const streams = [await follow(person.client), await follow(person.client.at(there.url))];
        await end(person.id, person.client);
        for (const stream of streams) {
          expect(await stream.ended).to.equal(null);
          expect(stream.frames.at(-1)).to.deep.equal({ event: "end", data: { reason: "session over" }, id: null });
        }
        const eventId = await accept();
        await colleague.until((frames) => frames.some(({ data }) => data["eventId"] === eventId));
        await colleague.close();
      }
    } finally {
      await there.close();
    }
  });

  it("goes on where a change does not concern its session", async () => {
    const service = await createService(one.owner.client, "viewer");
    const stream = await follow(one.viewer.client);
    await one.owner.client.patch(`/api/v1/tenants/${one.tenantId}`, { maxTrys: 7 });
    await one.owner.client.patch(`/api/v1/users/${one.viewer.id}`, { email: freshEmail() });
    const { token = "" } = await login(api.url, one.developer.email);
    await new HttpClient(api.url, token).post("/api/v1/auth/logout");
    // Streams whose session a change may end are checked together.
    const checked = await follow(service.client);
    await one.owner.client.delete(`/api/v1/service-accounts/${service.id}`);
    await checked.ended;
    const eventId = await accept();
    await stream.until((frames) => frames.some(({ data }) => data["eventId"] === eventId));
  });
});
