import { expect } from "chai";
import { streams } from "../../src/kernel/domain/streams.ts";
import {
  createUser, freshEmail, openAccount, openIngest, password, unique, type Account,
} from "../support/accounts.ts";
import { startApi, type TestApi } from "../support/api.ts";
import { inMemoryEngines, type InMemoryEngines } from "../support/api-engines.ts";
import { http, shaped } from "../support/http.ts";
import { Deliveries } from "../support/outcomes.ts";
import { spoilReads } from "../support/spoiled.ts";

const newer = "cannot be read by this process: a newer release of the relay wrote a part of it";
const damaged = "cannot be read by any process: a part of it is damaged";

describe("if a newer release wrote a part of a record", () => {
  let engines: InMemoryEngines;
  let api: TestApi;
  let one: Account;
  let ingest: Awaited<ReturnType<typeof openIngest>>;

  beforeEach(async () => {
    engines = await inMemoryEngines();
    api = await startApi(engines);
    one = await openAccount(api.url);
    ingest = await openIngest(one.owner.client, one.tenantId);
  });
  afterEach(async () => {
    expect(api.errors).to.deep.equal([]);
    await api.close();
    await engines.close();
  });

  const post = (headers: Readonly<Record<string, string>> = {}, { path, apiKey } = ingest) =>
    http("POST", api.url + path, { json: {}, headers: { "x-api-key": apiKey, ...headers } });
  const answered = async (asked: Promise<{ readonly status: number; readonly text: string }>) => {
    const { status, text } = await asked;
    return [status, text];
  };
  /** Appends an entry of a newer release; resolves once this process has read it. */
  const appendNewer = async (stream: string) => {
    await engines.store.appendNewer(stream);
    await engines.readModels.caughtUp(await engines.store.head(), 2_000);
  };

  it("503 names the record and tells newer from damaged, without the contents", async () => {
    const { client } = one.owner;
    const { destinationId } = ingest;
    const { eventId } = (await post()).json;
    await appendNewer(streams.event(String(eventId)));
    for (const path of ["", "/attempts", "/history"]) {
      expect(await answered(client.get(`/api/v1/events/${String(eventId)}${path}`)))
        .to.deep.equal([503, `this event's record ${newer}`]);
    }
    for (const change of ["cancel", "replay"]) {
      expect(await answered(client.post(`/api/v1/events/${String(eventId)}/${change}`)))
        .to.deep.equal([503, `this event's record ${newer}`]);
    }
    await appendNewer(streams.destination(destinationId));
    const stream = streams.destination(destinationId);
    expect(await answered(client.get(`/api/v1/destinations/${destinationId}`)))
      .to.deep.equal([503, `the record ${stream} ${newer}`]);
    const other = await openIngest(client, one.tenantId);
    const sound = await post({}, other);
    expect(sound.status).to.equal(202);
    spoilReads(engines.store, (entry) => entry.stream === streams.event(String(sound.json["eventId"])));
    expect(await answered(client.get(`/api/v1/events/${String(sound.json["eventId"])}`)))
      .to.deep.equal([503, `this event's record ${damaged}`]);
  });

  for (const record of ["destination", "apiKey"] as const) {
    it(`only its producers get 503 if the record is the ${record}`, async () => {
      const other = await openIngest(one.owner.client, one.tenantId);
      const stream = streams[record](record === "apiKey" ? ingest.apiKeyId : ingest.destinationId);
      await appendNewer(stream);
      expect(await answered(post())).to.deep.equal([503, `the record ${stream} ${newer}`]);
      expect((await post({}, other)).status).to.equal(202);
    });
  }

  it("events are accepted if the record is the destination's circuit, or the tenant", async () => {
    await appendNewer(streams.circuit(ingest.destinationId));
    await appendNewer(streams.tenant(one.tenantId));
    const answer = await post();
    expect(answer.status).to.equal(202);
    const facts = await engines.store.readStream(streams.event(String(answer.json["eventId"])));
    expect(facts.map(({ type }) => type)).to.deep.equal(["EventAccepted"]);
  });

  it("events are refused if the circuit is damaged: no release could deliver them", async () => {
    await appendNewer(streams.circuit(ingest.destinationId));
    spoilReads(engines.store, ({ stream }) => stream.startsWith("circuit-"));
    const other = await startApi(engines);
    const { path, apiKey } = ingest;
    const posted = answered(http("POST", other.url + path, { json: {}, headers: { "x-api-key": apiKey } }));
    const record = `the record ${streams.circuit(ingest.destinationId)}`;
    expect(await posted.finally(other.close)).to.deep.equal([503, `${record} ${damaged}`]);
  });

  it("an event's idempotency key gives the event as it was accepted", async () => {
    const key = { "x-idempotency-key": unique("order") };
    const first = await post(key);
    expect(first.status).to.equal(202);
    const { eventId, acceptedAt } = first.json;
    await new Deliveries(api.world).fail(String(eventId), 1);
    await appendNewer(streams.event(String(eventId)));
    const again = await post(key);
    expect(again.status).to.equal(200);
    expect(shaped(again, "duplicate")).to.include({ eventId, acceptedAt, status: "Pending", currentRetryCount: 0 });
    expect((await post({ "x-idempotency-key": unique("order") })).status).to.equal(202);
  });

  it("an event's idempotency key gives 503 during a purge, which may have taken the event", async () => {
    const key = { "x-idempotency-key": unique("order") };
    const { eventId } = (await post(key)).json;
    await new Deliveries(api.world).succeed(String(eventId));
    expect((await one.owner.client.post("/api/v1/events/purge", {})).status).to.equal(204);
    await appendNewer(streams.event(String(eventId)));
    expect(await answered(post(key))).to.deep.equal([503, `this event's record ${newer}`]);
  });

  it("an unknown API key or token gives 503: it may be the one of that record", async () => {
    const unknown = { path: `${ingest.path.slice(0, -8)}AAAAAAAA`, apiKey: `${ingest.apiKey.slice(0, -8)}AAAAAAAA` };
    const withKey = () => answered(post({}, { ...ingest, apiKey: unknown.apiKey }));
    const withToken = () => answered(post({}, { ...ingest, path: unknown.path }));
    expect([(await withKey())[0], (await withToken())[0]]).to.deep.equal([401, 404]);
    await appendNewer(streams.apiKey(api.world.ids.uuid()));
    expect([await withKey(), (await withToken())[0]]).to.deep.equal([[503, `the record of an API key ${newer}`], 404]);
    await appendNewer(streams.destination(api.world.ids.uuid()));
    expect(await withToken()).to.deep.equal([503, `the record of a destination ${newer}`]);
    expect((await post()).status).to.equal(202);
  });

  it("no other tenant gets a name if the record is the name's reservation", async () => {
    const { email } = await createUser(one.owner.client, "viewer");
    const { entries } = await engines.store.readLog("", 1_000);
    const reserved = entries.filter(({ stream }) => stream.startsWith("email-")).at(-1)?.stream ?? "";
    await appendNewer(reserved);
    const create = (address: string) => one.owner.client.post("/api/v1/users", { email: address, password, role: 20 });
    expect(await answered(create(email))).to.deep.equal([503, `the record of this name ${newer}`]);
    expect((await create(freshEmail())).status).to.equal(201);
  });

  it("no user is deleted if the record is an invite: the user might register again by it", async () => {
    const user = await createUser(one.owner.client, "viewer");
    const remove = () => one.owner.client.delete(`/api/v1/users/${user.id}`);
    await appendNewer(streams.invite(api.world.ids.uuid()));
    expect(await answered(remove())).to.deep.equal([503, `the record of an invite ${newer}`]);
    expect((await one.owner.client.get(`/api/v1/users/${user.id}`)).status).to.equal(200);
  });
});
