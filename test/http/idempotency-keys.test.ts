import { expect } from "chai";
import { AesSealing } from "../../src/engines/aes-sealing/aes-sealing.ts";
import { SystemIds } from "../../src/engines/system/system-ids.ts";
import { eventIdOf, keyOfEvent } from "../../src/kernel/domain/event-id.ts";
import { streams } from "../../src/kernel/domain/streams.ts";
import { timestamp } from "../../src/kernel/domain/time.ts";
import { entriesOf, serviceOrigin } from "../../src/kernel/log/origin.ts";
import { noStream } from "../../src/kernel/ports/event-store.ts";
import { PlatformKeys, wrapPlatformKeys } from "../../src/kernel/sealing/platform-keys.ts";
import { unkeyedEventKey } from "../../src/kernel/tools/hashing.ts";
import { openAccount, openIngest, unique, type Account } from "../support/accounts.ts";
import { startApi, type TestApi } from "../support/api.ts";
import { describeOnEngines, type SharedEngines } from "../support/api-engines.ts";
import { http, shaped } from "../support/http.ts";
import { Deliveries } from "../support/outcomes.ts";

type Ingest = Awaited<ReturnType<typeof openIngest>>;

/** Creates the platform's keys as releases before 0.2 did: they named events by a plain hash. */
async function beginEarlier({ store, masterKey, clock }: SharedEngines): Promise<void> {
  const ids = new SystemIds();
  const keys = { nameHashKey: ids.secretBytes(32), tokenKey: ids.secretBytes(32), keyedEventIds: false };
  const data = { ...wrapPlatformKeys(keys, new AesSealing(masterKey)), at: timestamp(clock.now()) };
  const event = { type: "PlatformKeysCreated", data } as const;
  await store.append(streams.platform, noStream, entriesOf([event], serviceOrigin("platform", ids), ids));
}

/** Two tenants on two processes, and their requests with idempotency keys. */
class World {
  readonly #engines: SharedEngines;
  readonly processes: readonly [TestApi, TestApi];
  readonly one: Account;
  readonly other: Account;
  readonly mine: Ingest;
  readonly theirs: Ingest;

  private constructor(
    engines: SharedEngines, processes: World["processes"], accounts: readonly [Account, Account],
    ingests: readonly [Ingest, Ingest],
  ) {
    this.#engines = engines;
    this.processes = processes;
    [this.one, this.other] = accounts;
    [this.mine, this.theirs] = ingests;
  }

  static async open(engines: SharedEngines): Promise<World> {
    const processes = [await startApi(engines), await startApi(engines)] as const;
    const { url } = processes[0];
    const accounts = [await openAccount(url), await openAccount(url)] as const;
    const [one, other] = accounts;
    const ingests = [
      await openIngest(one.owner.client, one.tenantId), await openIngest(other.owner.client, other.tenantId),
    ] as const;
    return new World(engines, processes, accounts, ingests);
  }

  get api(): TestApi {
    return this.processes[0];
  }

  post(idempotencyKey: string, { path, apiKey }: Ingest = this.mine, { url }: TestApi = this.api) {
    const headers = { "x-api-key": apiKey, "x-idempotency-key": idempotencyKey };
    return http("POST", url + path, { json: {}, headers });
  }

  async found(idempotencyKey: string): Promise<unknown> {
    const query = new URLSearchParams({ IdempotencyKey: idempotencyKey }).toString();
    const { total, items } = shaped(await this.one.viewer.client.get(`/api/v1/events?${query}`), "event-page");
    expect(items).to.have.length(Number(total));
    return (items as { id: string }[])[0]?.id;
  }

  async purge(account = this.one): Promise<void> {
    expect((await account.owner.client.post("/api/v1/events/purge", {})).status).to.equal(204);
  }

  async succeed(eventId: string): Promise<void> {
    await new Deliveries(this.api.world).succeed(eventId);
  }

  /** The event key that this installation derives from an idempotency key. */
  async nameOf(tenantId: string, idempotencyKey: string): Promise<string> {
    return (await new PlatformKeys(this.api.world).get()).events.of(tenantId, idempotencyKey);
  }

  /** Appends the acceptance of an event under an event key; returns the id. */
  async plant(eventKey: string, idempotencyKey: string, account = this.one, ingest = this.mine): Promise<string> {
    const { clock, store } = this.#engines;
    const eventId = eventIdOf(clock.now(), eventKey);
    const data = {
      eventId, tenantId: account.tenantId, destinationId: ingest.destinationId, apiKeyId: ingest.apiKeyId,
      senderId: null, senderRevision: null, idempotencyKey, payload: "{}", original: null, at: timestamp(clock.now()),
    };
    const origin = { actor: { type: "anonymous" }, correlationId: "test", causationId: null } as const;
    const entries = entriesOf([{ type: "EventAccepted", data }], origin, this.api.world.ids);
    await store.append(streams.event(eventId), noStream, entries);
    return eventId;
  }

  /** The streams that a process reads from the log during an action. */
  async readBy({ world: { store } }: TestApi, task: () => Promise<unknown>): Promise<string[]> {
    const read: string[] = [];
    const readStream = store.readStream.bind(store);
    store.readStream = (stream, ...rest) => {
      read.push(stream);
      return readStream(stream, ...rest);
    };
    await task().finally(() => Reflect.deleteProperty(store, "readStream"));
    return read;
  }
}

describeOnEngines("idempotency keys", (freshEngines) => {
  let world: World;
  const closing = () => Promise.all(world.processes.map((process) => process.close()));
  afterEach(() => expect(world.processes.flatMap(({ errors }) => errors)).to.deep.equal([]));

  describe("of an installation that began with this release", () => {
    before(async () => {
      world = await World.open(await freshEngines());
    });
    after(closing);

    it("name the same event in every process, by an id that takes the platform's key to compute", async () => {
      const key = unique("order");
      const first = await world.post(key);
      expect(first.status).to.equal(202);
      const eventId = String(first.json["eventId"]);
      const second = await world.post(key, world.mine, world.processes[1]);
      expect([second.status, second.json["eventId"]]).to.deep.equal([200, eventId]);
      expect(keyOfEvent(eventId)).to.equal(await world.nameOf(world.one.tenantId, key));
      expect(keyOfEvent(eventId)).to.not.equal(unkeyedEventKey(world.one.tenantId, key));
    });

    it("are refused, not tried for ever, where another hand deleted the event's stream for good", async () => {
      const key = unique("order");
      const { world: { store } } = world.api;
      const eventId = eventIdOf(0, await world.nameOf(world.one.tenantId, key));
      await store.deleteStream(streams.event(eventId), noStream, { forGood: true });
      expect((await world.post(key)).status).to.equal(503);
    });

    it("cost no read of the log, and events named by an earlier release are not looked for", async () => {
      const key = unique("order");
      await world.post(unique("first"));
      await world.plant(unkeyedEventKey(world.one.tenantId, key), key);
      let status = 0;
      expect(await world.readBy(world.api, async () => ({ status } = await world.post(key)))).to.deep.equal([]);
      expect(status).to.equal(202);
    });

    for (const [whose, plant] of [
      ["another tenant's", (name: string, key: string) => world.plant(name, key, world.other, world.theirs)],
      ["the tenant's own", (name: string) => world.plant(name, unique("another"))],
    ] as const) {
      it(`that lead to the id of ${whose} event get 409 and learn nothing of it, until it is purged`, async () => {
        const key = unique("collides");
        const eventId = await plant(await world.nameOf(world.one.tenantId, key), key);
        for (const process of world.processes) {
          const answers = await Promise.all(Array.from({ length: 5 }, () => world.post(key, world.mine, process)));
          for (const { status, text } of answers) {
            expect(text).to.match(/^X-Idempotency-Key: /).and.not.include(eventId);
            expect(status).to.equal(409);
          }
        }
        expect(await world.found(key)).to.equal(undefined);
        expect((await world.post(unique("other"))).status).to.equal(202);
        await world.succeed(eventId);
        await world.purge(world.one);
        await world.purge(world.other);
        expect((await world.post(key)).status).to.equal(202);
        expect((await world.post(key)).status).to.equal(200);
      });
    }
  });

  describe("of an installation that an earlier release ran", () => {
    before(async () => {
      const engines = await freshEngines();
      await beginEarlier(engines);
      world = await World.open(engines);
    });
    after(closing);

    /** Appends an event that the earlier release accepted under this key. */
    const plantEarlier = (key: string) => world.plant(unkeyedEventKey(world.one.tenantId, key), key);

    it("give their events, to concurrent requests too, and while the destination refuses new events", async () => {
      const key = unique("earlier");
      const eventId = await plantEarlier(key);
      const post = () => Promise.all(Array.from({ length: 20 }, (_, n) =>
        world.post(key, world.mine, world.processes[n % 2] ?? world.api)));
      const answered = async () => {
        for (const answer of await post()) {
          expect([answer.status, shaped(answer, "duplicate")["eventId"]]).to.deep.equal([200, eventId]);
        }
      };
      await answered();
      expect(await world.found(key)).to.equal(eventId);
      const { client } = world.one.owner;
      const set = async (status: string) => {
        const changed = await client.patch(`/api/v1/destinations/${world.mine.destinationId}`, { status });
        expect(changed.status).to.equal(200);
      };
      await set("inactive");
      await answered();
      await set("active");
      await world.succeed(eventId);
      await answered();
      expect((await client.get(`/api/v1/events/${eventId}/history`)).json["total"]).to.equal(3);
    });

    it("can be used again once their events are purged, and then name new events by the keyed hash", async () => {
      const key = unique("earlier");
      const eventId = await plantEarlier(key);
      await world.succeed(eventId);
      await world.purge();
      expect(await world.found(key)).to.equal(undefined);
      const answers = await Promise.all(Array.from({ length: 10 }, () => world.post(key)));
      expect(answers.filter(({ status }) => status === 202)).to.have.length(1);
      expect(answers.filter(({ status }) => status === 200)).to.have.length(9);
      const ids = [...new Set(answers.map(({ json }) => String(json["eventId"])))];
      expect(ids.map(keyOfEvent)).to.deep.equal([await world.nameOf(world.one.tenantId, key)]);
      expect(await world.found(key)).to.equal(ids[0]);
    });

    it("that are new name events by the keyed hash, and cost one read of the log", async () => {
      const key = unique("new");
      await world.post(unique("first"));
      let answer = await world.post(unique("first"));
      const read = await world.readBy(world.api, async () => (answer = await world.post(key)));
      expect(read).to.deep.equal([`event-${unkeyedEventKey(world.one.tenantId, key)}`]);
      expect(answer.status).to.equal(202);
      expect(keyOfEvent(String(answer.json["eventId"]))).to.equal(await world.nameOf(world.one.tenantId, key));
      expect((await world.post(key)).status).to.equal(200);
    });

    it("are accepted although another event has their plain-hash name", async () => {
      const key = unique("searched");
      await world.plant(unkeyedEventKey(world.one.tenantId, key), key, world.other, world.theirs);
      expect((await world.post(key)).status).to.equal(202);
      expect((await world.post(key)).status).to.equal(200);
    });

    it("are refused if the API key is revoked during the look-up of an earlier event", async () => {
      const { owner: { client }, tenantId } = world.one;
      const ingest = await openIngest(client, tenantId);
      await world.post(unique("first"), ingest);
      const { store } = world.api.world;
      const readStream = store.readStream.bind(store);
      const key = unique("revoked");
      store.readStream = async (...asked) => {
        if (asked[0] === `event-${unkeyedEventKey(tenantId, key)}`) {
          expect((await client.delete(`/api/v1/api-keys/${ingest.apiKeyId}`)).status).to.equal(204);
        }
        return readStream(...asked);
      };
      const { status } = await world.post(key, ingest).finally(() => Reflect.deleteProperty(store, "readStream"));
      expect(status).to.equal(401);
      expect(await world.found(key)).to.equal(undefined);
    });
  });
});
