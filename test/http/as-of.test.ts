import { expect } from "chai";
import { timestamp } from "../../src/kernel/domain/time.ts";
import { Client, openAccount, openIngest, type Account } from "../support/accounts.ts";
import { startApi, type TestApi } from "../support/api.ts";
import { relayClient } from "../support/api-client.ts";
import { describeOnEngines, type SharedEngines } from "../support/api-engines.ts";
import { attemptEnded, tellCircuit } from "../support/circuits.ts";
import { shaped } from "../support/http.ts";
import { Deliveries } from "../support/outcomes.ts";

const nowhere = "00000000-0000-7000-8000-000000000000";
const url = "https://receiver.example/hook";
/** Positions as the two logs have them: of each, the other's is malformed. */
const positions = ["0000000000000007", "00000000000000000007/00000000000000000007"];

/** An answer as one with `AsOf` has it: the load of a destination is known of the present only. */
function withoutLoad(answer: Record<string, unknown>): Record<string, unknown> {
  const { health, ...rest } = answer as { readonly health?: { readonly circuit: object } };
  if (!health) return rest;
  const unknown = { waiting: null, inFlight: null, oldestDueAt: null, lastSuccessAt: null, lastFailureAt: null };
  return { ...rest, health: { ...unknown, circuit: health.circuit } };
}

describeOnEngines("reads as of a moment", (freshEngines) => {
  let engines: SharedEngines;
  let api: TestApi;
  let one: Account;
  let other: Account;
  let viewer: Client;
  before(async () => {
    engines = await freshEngines();
    api = await startApi(engines);
    [one, other] = [await openAccount(api.url), await openAccount(api.url)];
    viewer = one.viewer.client;
  });
  after(() => api.close());
  afterEach(() => expect(api.errors).to.deep.equal([]));

  /** A moment after all entries; time goes on afterwards. */
  const pass = async () => {
    engines.clock.advance(20_000);
    const moment = { time: timestamp(engines.clock.now()), position: await engines.store.head() };
    engines.clock.advance(70_000);
    return moment;
  };
  const at = (path: string, asOf: string, client = viewer) => client.get(`${path}?AsOf=${encodeURIComponent(asOf)}`);
  const read = async (path: string, asOf: string, kind: string) => shaped(await at(path, asOf), kind);

  it("show a tenant, a destination, a sender and an event as they were, by time and by position", async () => {
    const { owner, tenantId } = one;
    const begun = await pass();
    const destination = await owner.client.api.createDestination({ url });
    const sender = await owner.client.api.createSender({ name: "Shop", destinationUrlId: destination.id });
    const { apiKey } = await owner.client.api.createApiKey({ name: "key" });
    const producer = relayClient(api.url, { apiKey });
    const { eventId } = await producer.ingest({ tenantId, token: destination.ingestToken }, { n: 1 });
    const paths = {
      tenant: `/api/v1/tenants/${tenantId}`,
      destination: `/api/v1/destinations/${destination.id}`,
      sender: `/api/v1/senders/${sender.id}`,
      event: `/api/v1/events/${eventId}`,
    } as const;
    const kinds = Object.keys(paths) as (keyof typeof paths)[];
    const now = async () => Object.fromEntries(await Promise.all(kinds.map(async (kind) =>
      [kind, withoutLoad(shaped(await viewer.get(paths[kind]), kind))] as const)));
    const seen = [{ moment: await pass(), shown: await now() }];
    await owner.client.api.updateTenant({ id: tenantId }, { maxTrys: 7 });
    await owner.client.api.updateDestination({ id: destination.id }, { serverRateLimit: 9, status: "inactive" });
    await owner.client.api.updateSender({ id: sender.id }, { name: "Stall" });
    await new Deliveries(api.world).fail(eventId, 5);
    seen.push({ moment: await pass(), shown: await now() });
    await owner.client.api.updateTenant({ id: tenantId }, { maxTrys: 8 });
    await owner.client.api.deleteSender({ id: sender.id });
    await owner.client.api.deleteDestination({ id: destination.id });
    await new Deliveries(api.world).succeed(eventId);
    for (const { moment, shown } of seen) {
      for (const kind of kinds) {
        const asOf = { ...moment };
        expect(await read(paths[kind], moment.time, kind), kind).to.deep.equal({ ...shown[kind], asOf });
        const byPosition = await read(paths[kind], moment.position, kind);
        expect(byPosition["asOf"]).to.have.property("position", moment.position);
        expect({ ...byPosition, asOf: null }, kind).to.deep.equal({ ...shown[kind], asOf: null });
      }
    }
    for (const kind of kinds.filter((one) => one !== "tenant")) {
      expect((await at(paths[kind], begun.time)).status, `${kind} before it began`).to.equal(404);
      expect((await at(paths[kind], begun.position)).status).to.equal(404);
    }
    for (const kind of ["destination", "sender"] as const) {
      const { time } = await pass();
      expect((await viewer.get(paths[kind])).status).to.equal(404);
      expect((await at(paths[kind], time)).status, `${kind} after its deletion`).to.equal(404);
      expect((await at(paths[kind], "2100-01-01")).status).to.equal(404);
    }
  });

  it("show the status that a destination's circuit gave it, however long the circuit's history is", async () => {
    const { id } = await one.owner.client.api.createDestination({ url });
    const path = `/api/v1/destinations/${id}`;
    const tell = (...commands: Parameters<typeof tellCircuit>[2][]) =>
      tellCircuit(api.world, { destinationId: id, tenantId: one.tenantId }, ...commands);
    const before = await pass();
    const statuses = [{ moment: before, status: "Active" }];
    for (let round = 0; round < 5; round += 1) {
      await tell(attemptEnded(nowhere, false), { type: "Close" }, attemptEnded(nowhere, false));
      statuses.push({ moment: await pass(), status: "Suspended" });
      await tell({ type: "Close" }, attemptEnded(nowhere, false, 9));
      statuses.push({ moment: await pass(), status: "Active" });
    }
    for (const { moment, status } of statuses) {
      for (const asOf of Object.values(moment)) {
        expect(await read(path, asOf, "destination")).to.have.property("status", status);
      }
    }
  });

  it("answer a moment in the future with the present, and say so", async () => {
    const path = `/api/v1/tenants/${one.tenantId}`;
    const shown = shaped(await viewer.get(path), "tenant");
    const head = await engines.store.head();
    const future = head.replace(/^00/, "01");
    for (const asOf of ["2100-01-01", head, future, timestamp(engines.clock.now() + 1)]) {
      const { asOf: moment, ...view } = await read(path, asOf, "tenant");
      expect(view).to.deep.equal(shown);
      const { time, position } = moment as { readonly time: string; readonly position: string };
      expect(position).to.equal(head);
      expect(Math.abs(Date.parse(time) - engines.clock.now())).to.be.below(60_000);
    }
  });

  it("refuse a value that is neither a time nor a position of this log", async () => {
    const [other = ""] = positions.filter((position) => !engines.store.isPosition(position));
    const path = `/api/v1/tenants/${one.tenantId}`;
    for (const asOf of ["yesterday", "7", other, "2026-02-30", "2026-01-01T00:00:00 01:00", `${positions[0]}0`]) {
      const answer = await at(path, asOf);
      expect([answer.status, answer.text.slice(0, 5)], asOf).to.deep.equal([400, "AsOf:"]);
    }
    for (const query of ["?AsOf=", "?asOf=2026-01-01", "?AsOf=2026-01-01&AsOf=2026-01-02"]) {
      expect((await viewer.get(path + query)).status, query).to.equal(400);
    }
  });

  it("come before 404 and 403 with their 400, and keep to the caller's tenant", async () => {
    const { destinationId } = await openIngest(other.owner.client, other.tenantId);
    const { time } = await pass();
    for (const asOf of [time, "2100-01-01"]) {
      expect((await at(`/api/v1/destinations/${destinationId}`, asOf)).status).to.equal(403);
      expect((await at(`/api/v1/tenants/${other.tenantId}`, asOf)).status).to.equal(404);
      expect((await at(`/api/v1/events/${nowhere}`, asOf)).status).to.equal(404);
    }
    expect((await at(`/api/v1/destinations/${destinationId}`, "yesterday")).status).to.equal(400);
    expect((await at(`/api/v1/destinations/${nowhere}`, "yesterday")).status).to.equal(400);
    expect((await at(`/api/v1/destinations/${destinationId}`, "yesterday", new Client(api.url))).status).to.equal(401);
  });

  it("do not bring a purged event back", async () => {
    const ingest = await openIngest(one.owner.client, one.tenantId);
    const producer = relayClient(api.url, { apiKey: ingest.apiKey });
    const { eventId } = await producer.ingest({ tenantId: one.tenantId, token: ingest.ingestToken }, {});
    await new Deliveries(api.world).succeed(eventId);
    const { time, position } = await pass();
    expect((await at(`/api/v1/events/${eventId}`, time)).status).to.equal(200);
    await one.owner.client.api.purgeEvents({ destinationUrlId: ingest.destinationId });
    for (const asOf of [time, position]) {
      expect((await at(`/api/v1/events/${eventId}`, asOf)).status).to.equal(404);
    }
  });
});
