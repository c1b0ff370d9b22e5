import { expect } from "chai";
import { AesSealing } from "../../../../src/engines/aes-sealing/aes-sealing.ts";
import { JsonEventCodec } from "../../../../src/engines/event-codec/event-codec.ts";
import { EventStoreDb } from "../../../../src/engines/eventstoredb/event-store-db.ts";
import { SystemClock } from "../../../../src/engines/system/system-clock.ts";
import { SystemIds } from "../../../../src/engines/system/system-ids.ts";
import { keyInventory } from "../../../../src/features/key-rotation/key-rotation.ts";
import { serveAll } from "../../../../src/features/services.ts";
import { Refusal } from "../../../../src/kernel/domain/refusal.ts";
import { streams } from "../../../../src/kernel/domain/streams.ts";
import { Aggregates } from "../../../../src/kernel/log/aggregates.ts";
import type { EventStore } from "../../../../src/kernel/ports/event-store.ts";
import { backlogByDestination } from "../../../../src/main/operator/backlog.ts";
import { stoppedErasure } from "../../../../src/main/operator/operations.ts";
import { type Client, createTenant, createUser, openIngest, password } from "../../../support/accounts.ts";
import { startApi } from "../../../support/api.ts";
import { enginesOver, type InMemoryEngines } from "../../../support/api-engines.ts";
import { certificatesOf } from "../../../support/certificates.ts";
import { EventStoreDbServer } from "../../../support/eventstoredb-server/server.ts";
import { http } from "../../../support/http.ts";
import { InMemoryEventStore } from "../../../support/in-memory-event-store.ts";
import { withoutMoments } from "../../../support/in-memory-read-models.ts";

const ids = new SystemIds();
const { pair: clientCertificate } = certificatesOf()();

/** Gives a destination a client certificate, two secrets that sign, and a key. */
async function signAndCertify(client: Client, id: string): Promise<void> {
  const path = `/api/v1/destinations/${id}`;
  const given = [
    await client.patch(path, { clientCertificate }),
    await client.post(`${path}/signing-secret`, { gracePeriodSeconds: 3_600 }),
    await client.post(`${path}/signing-key`, {}),
  ];
  for (const { status, text } of given) expect(status, text).to.be.below(300);
}

/** Opens a log; `close` releases it. */
type OpenLog = () => Promise<{ readonly store: EventStore; readonly close: () => Promise<void> }>;

/** Deletes at once. */
const inMemory: OpenLog = async () => ({ store: new InMemoryEventStore(), close: async () => undefined });

/** Still gives deleted entries to readers of the whole log: nothing scavenges it here. */
const eventStoreDb: OpenLog = async () => {
  const server = await EventStoreDbServer.start();
  const store = new EventStoreDb({ url: server.url, codec: new JsonEventCodec(), clock: new SystemClock() });
  const close = async () => {
    await store.close();
    await server.close();
  };
  return { store, close };
};

for (const [log, open, killsApart] of [["in memory", inMemory, 1], ["in EventStoreDB", eventStoreDb, 5]] as const) {
  describe(`erasing a tenant, the log ${log}`, () => {
    let engines: InMemoryEngines<EventStore>;
    let close: () => Promise<void>;
    const begin = async () => {
      const opened = await open();
      engines = await enginesOver(opened.store);
      close = async () => {
        await engines.close();
        await opened.close();
      };
    };
    beforeEach(begin);
    afterEach(() => close());

    /** A tenant with something of every kind, some of it deleted already. */
    const fill = async (url: string) => {
      const tenant = await createTenant(url);
      const { client } = tenant.owner;
      const user = await createUser(client, "viewer");
      await user.client.post("/api/v1/auth/logout");
      await client.post("/api/v1/invites", { email: "canary@example.com", role: 0 });
      const ingest = await openIngest(client, tenant.tenantId);
      await signAndCertify(client, ingest.destinationId);
      const json = { canary: tenant.tenantId };
      const accepted = await http("POST", url + ingest.path, { json, headers: { "x-api-key": ingest.apiKey } });
      expect(accepted.status).to.equal(202);
      expect((await http("POST", url + ingest.path, { json })).status).to.equal(401);
      expect((await client.get("/api/v1/refusals")).json["total"]).to.equal(1);
      const sender = { name: `canary ${tenant.tenantId}`, destinationUrlId: ingest.destinationId };
      const made = await client.post("/api/v1/senders", sender);
      await client.patch(`/api/v1/senders/${String(made.json["id"])}`, { status: "inactive" });
      await client.delete(`/api/v1/senders/${String((await client.post("/api/v1/senders", sender)).json["id"])}`);
      const second = await openIngest(client, tenant.tenantId);
      await signAndCertify(client, second.destinationId);
      await client.delete(`/api/v1/destinations/${second.destinationId}`);
      await client.delete(`/api/v1/api-keys/${second.apiKeyId}`);
      await client.delete(`/api/v1/users/${user.id}`);
      return { ...tenant, ingest };
    };

    const erasure = () => {
      const { store, state, clock } = engines;
      const aggregates = new Aggregates(store, { clock, ids }, { max: 100 });
      serveAll(aggregates);
      return stoppedErasure({ store, aggregates, state, clock, ids }, () => engines.projector.rebuild());
    };
    const withApi = async <Result>(use: (url: string) => Promise<Result>): Promise<Result> => {
      const api = await startApi(engines);
      try {
        return await use(api.url);
      } finally {
        expect(api.errors).to.deep.equal([]);
        await api.close();
      }
    };

    /** The log's entries about a tenant, without deleted ones, which an engine may still give. */
    const remaining = async (tenantId: string) => {
      const { entries } = await engines.store.readLog("", 100_000);
      const there = await Promise.all(entries.map(async ({ stream, revision }) =>
        (await engines.store.readStream(stream, { from: revision, limit: 1 }))[0]?.revision === revision));
      return entries.filter((entry, at) => there[at] && JSON.stringify(entry).includes(tenantId));
    };
    /** The read models once they cover the log, without the minutes that began meanwhile. */
    const projected = async () => {
      await engines.projector.drained(await engines.store.head());
      return withoutMoments(engines.readModels.contents());
    };

    const requireErased = async (gone: Awaited<ReturnType<typeof fill>>) => {
      const { tenantId, owner, name, ingest } = gone;
      const left = await remaining(tenantId);
      const kinds = left.map(({ type, stream }) => `${type} in ${stream.split("-")[0] ?? ""}`);
      expect(new Set(kinds)).to.deep.equal(new Set([
        "NameReserved in tenantName", "NameReleased in tenantName", "NameReserved in email", "NameReleased in email",
        "TenantErased in tenant",
      ]));
      expect(kinds.filter((kind) => kind.startsWith("TenantErased"))).to.have.length(1);
      expect(JSON.stringify(engines.readModels.contents())).not.to.include(tenantId).and.not.include(owner.email);
      expect(JSON.stringify(engines.readModels.statistics())).not.to.include(tenantId);
      expect(await engines.state.tallies(`refusals/${tenantId}`)).to.deep.equal([]);
      await withApi(async (url) => {
        expect((await http("POST", `${url}/api/v1/auth/login`, { json: { email: owner.email, password } })).status)
          .to.equal(401);
        expect((await owner.client.at(url).get(`/api/v1/tenants/${tenantId}`)).status).to.equal(401);
        const post = (apiKey: string) =>
          http("POST", url + ingest.path, { json: {}, headers: { "x-api-key": apiKey } });
        expect((await post(ingest.apiKey)).status).to.equal(401);
        const other = await createTenant(url);
        const { apiKey } = await openIngest(other.owner.client, other.tenantId);
        expect((await post(apiKey)).status).to.equal(404);
        const again = { name, ownerEmail: owner.email, ownerPassword: password };
        expect((await http("POST", `${url}/api/v1/tenants`, { json: again })).status).to.equal(201);
      });
    };

    it("leaves every fact of other tenants, and the read models as they were before the tenant", async () => {
      const stays = await withApi(fill);
      const before = { log: await remaining(stays.tenantId), readModels: await projected() };
      const gone = await withApi(fill);
      await projected();
      await engines.projector.stop();
      expect(await erasure().erase(gone.tenantId)).to.be.greaterThan(10);
      expect(await remaining(stays.tenantId)).to.deep.equal(before.log);
      expect(await erasure().resume()).to.equal(null);
      expect(await projected()).to.deep.equal(before.readModels);
      const { readModels } = engines;
      expect((await backlogByDestination(readModels)).map(({ tenantId }) => tenantId)).to.deep.equal([stays.tenantId]);
      // The platform's two keys, and the tenant's.
      const inventory = await keyInventory(readModels, new AesSealing(engines.masterKey));
      expect(inventory.map(({ wraps }) => wraps)).to.deep.equal([3]);
      await engines.projector.rebuild();
      expect(await projected()).to.deep.equal(before.readModels);
      await withApi(async (url) => {
        const { items } = (await stays.owner.client.at(url).get("/api/v1/events")).json as { items: unknown[] };
        expect(items).to.have.length(1);
      });
    });

    it("refuses ids of no tenant, and writes nothing", async () => {
      await engines.projector.stop();
      const head = await engines.store.head();
      for (const id of ["0193a1b2-0000-7000-8000-000000000001", "", "x"]) {
        expect(await erasure().erase(id).catch((error: unknown) => error)).to.be.instanceOf(Refusal);
      }
      expect(await engines.store.head()).to.equal(head);
    });

    if (open === inMemory) describe("where a newer release wrote a part of the log", () => {
      const appendNewer = (stream: string) => (engines.store as InMemoryEventStore).appendNewer(stream);
      const refusal = (tenantId: string) => erasure().erase(tenantId).catch((error: Error) => error.message);

      for (const [whose, streamOf] of [
        ["the tenant", ({ tenantId }) => `tenant-${tenantId}`],
        ["an event of the tenant", ({ eventId }) => streams.event(eventId)],
        ["nobody known", () => `event-${ids.uuid()}`],
      ] as const satisfies readonly [string, (of: { tenantId: string; eventId: string }) => string][]) {
        it(`is refused before anything is erased, if the part is about ${whose}`, async () => {
          const gone = await withApi(fill);
          const { entries } = await engines.store.readLog("", 1_000);
          const accepted = entries.find(({ type }) => type === "EventAccepted");
          const eventId = (accepted as unknown as { data: { eventId: string } }).data.eventId;
          await engines.projector.stop();
          const stream = streamOf({ tenantId: gone.tenantId, eventId });
          await appendNewer(stream);
          const head = await engines.store.head();
          expect(await refusal(gone.tenantId)).to.equal(
            `a newer release of the relay wrote an entry of type FromTheFuture into the stream ${stream}: erase the `
            + "tenant with that release, which can tell all that belongs to it",
          );
          expect([await engines.store.head(), await erasure().resume()]).to.deep.equal([head, null]);
        });
      }

      it("is done if the part is about another tenant", async () => {
        const [gone, stays] = [await withApi(fill), await withApi(fill)];
        await projected();
        await engines.projector.stop();
        await appendNewer(`tenant-${stays.tenantId}`);
        expect(await refusal(gone.tenantId)).to.be.greaterThan(10);
        expect(await remaining(stays.tenantId)).to.not.equal([]);
      });
    });

    it("is finished by the next erasure or resumption, after a kill at any append or deletion", async function () {
      this.timeout(60_000);
      for (let killedAt = 1, through = false; !through; killedAt += killsApart) {
        await close();
        await begin();
        const gone = await withApi(fill);
        await engines.projector.stop();
        const { store } = engines;
        let steps = 0;
        const step = () => {
          if ((steps += 1) >= killedAt) throw new Error("killed");
        };
        const whole = { append: store.append.bind(store), deleteStream: store.deleteStream.bind(store) };
        store.append = async (...args) => {
          step();
          return whole.append(...args);
        };
        store.deleteStream = async (...args) => {
          step();
          await whole.deleteStream(...args);
        };
        const outcome = await erasure().erase(gone.tenantId).catch((error: Error) => error.message);
        Object.assign(store, whole);
        through = outcome !== "killed";
        // After a kill before the first step there is nothing to resume: only another erase() finishes.
        const comesNext = async () =>
          killedAt % 2 === 0 ? erasure().resume() : erasure().erase(gone.tenantId).then(() => gone.tenantId);
        if (!through) expect(await comesNext(), `killed at ${killedAt}`).to.equal(gone.tenantId);
        engines.projector.start();
        await requireErased(gone);
      }
    });
  });
}
