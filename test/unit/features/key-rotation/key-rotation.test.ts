import { expect } from "chai";
import { AesSealing, masterKeyId } from "../../../../src/engines/aes-sealing/aes-sealing.ts";
import { SystemIds } from "../../../../src/engines/system/system-ids.ts";
import { keyInventory, KeyRotation, MasterKeyMissing } from "../../../../src/features/key-rotation/key-rotation.ts";
import { EmailOpener } from "../../../../src/features/people/persons/email-opener.ts";
import { serveAll } from "../../../../src/features/services.ts";
import { tenants } from "../../../../src/features/tenants/facts.ts";
import { Aggregates } from "../../../../src/kernel/log/aggregates.ts";
import { entriesOf, serviceOrigin } from "../../../../src/kernel/log/origin.ts";
import { noStream, type LogEntry, type RecordedEvent } from "../../../../src/kernel/ports/event-store.ts";
import { Unsealable } from "../../../../src/kernel/ports/sealing.ts";
import type { PlatformEvent } from "../../../../src/kernel/sealing/facts.ts";
import { PlatformKeys } from "../../../../src/kernel/sealing/platform-keys.ts";
import { Vault } from "../../../../src/kernel/sealing/vault.ts";
import { createTenant } from "../../../support/accounts.ts";
import { startApi } from "../../../support/api.ts";
import { inMemoryEngines, type InMemoryEngines } from "../../../support/api-engines.ts";
import { fromNewer, spoilReads } from "../../../support/spoiled.ts";

const ids = new SystemIds();
const going = () => false;

describe("master key rotation", () => {
  const second = ids.secretBytes(32);
  let engines: InMemoryEngines;
  let first: Uint8Array;
  let known: { readonly tenantId: string; readonly webhookSecret: string; readonly email: string }[];

  beforeEach(async () => {
    engines = await inMemoryEngines();
    first = engines.masterKey;
    const api = await startApi(engines);
    known = [];
    for (let n = 0; n < 3; n += 1) {
      const { tenantId, webhookSecret, owner } = await createTenant(api.url);
      known.push({ tenantId, webhookSecret, email: owner.email });
    }
    await api.close();
  });
  afterEach(() => engines.close());

  /** A process that was given these master keys, the newest first. */
  const processWith = (newest: Uint8Array, ...old: Uint8Array[]) => {
    const { store, readModels, clock } = engines;
    const sealing = new AesSealing(newest, old);
    const aggregates = new Aggregates(store, { clock, ids }, { max: 100 });
    serveAll(aggregates);
    const rotation = new KeyRotation({ store, sealing, readModels, aggregates, clock, ids });
    const keys = new PlatformKeys({ store, sealing, clock, ids });
    const vault = new Vault(sealing);
    const opener = new EmailOpener({ store, sealing, vault }, { max: 100 });
    return { sealing, aggregates, rotation, keys, vault, opener };
  };
  const rotate = async () => {
    const { rotation } = processWith(second, first);
    await rotation.begin();
    return rotation.finish(going);
  };
  const refusal = (newest: Uint8Array, ...old: Uint8Array[]) =>
    processWith(newest, ...old).rotation.begin().then(() => null, (error: unknown) => error as MasterKeyMissing);

  /** Fails unless everything can be read with the newest key alone. */
  const requireRotated = async (newest = second) => {
    const { rotation, keys, aggregates, vault, opener } = processWith(newest);
    await rotation.begin();
    await keys.get();
    for (const { tenantId, webhookSecret, email } of known) {
      const { state } = await aggregates.current(tenants, tenantId);
      expect(state && vault.webhookSecret(state)).to.equal(webhookSecret);
      const prepared = await opener.prepare(await engines.store.readStream(`tenant-${tenantId}`));
      const emails = prepared.flatMap((entry) =>
        entry.unreadable === undefined && "email" in entry.data ? [entry.data.email] : [],
      );
      expect(emails).to.deep.equal([email]);
    }
  };

  it("brings everything under the new key; then the old one is needed by nothing, and opens nothing", async () => {
    const tokenKey = Buffer.from((await processWith(first).keys.get()).tokenKey);
    expect(await rotate()).to.deep.equal({ rewrapped: 3, left: 0, through: true });
    await requireRotated();
    expect(Buffer.from((await processWith(second).keys.get()).tokenKey)).to.deep.equal(tokenKey);
    const refused = await refusal(first);
    expect(refused).to.be.instanceOf(MasterKeyMissing);
    expect(refused).to.include({ masterKeyId: masterKeyId(second), newest: true });
  });

  for (const keyed of [true, false]) {
    it(`changes no event's id, and keeps that ${keyed ? "all" : "not all"} of them are made under a key`, async () => {
      const factsNow = () =>
        engines.store.readStream("platform") as Promise<readonly RecordedEvent<PlatformEvent>[]>;
      if (!keyed) {
        // As a release before 0.2 made them.
        const [created] = await factsNow();
        const { keyedEventIds: _, ...data } = created!.data;
        const event = { type: "PlatformKeysCreated", data };
        await engines.store.deleteStream("platform");
        await engines.store.append("platform", noStream, entriesOf([event], serviceOrigin("test", ids), ids));
      }
      const { events: before } = await processWith(first).keys.get();
      await rotate();
      const { events: after } = await processWith(second).keys.get();
      expect(after.of("tenant", "order 7")).to.equal(before.of("tenant", "order 7"));
      expect([before.mayBeUnkeyed, after.mayBeUnkeyed]).to.deep.equal([!keyed, !keyed]);
      const facts = await factsNow();
      expect(facts.map(({ data }) => data.keyedEventIds)).to.deep.equal(facts.map(() => (keyed ? true : undefined)));
      expect(facts.map(({ type }) => type)).to.include("PlatformKeysRewrapped");
    });
  }

  it("leaves a tenant whose record cannot be read, and re-wraps the others", async () => {
    const [damaged] = known.map(({ tenantId }) => `tenant-${tenantId}`).sort();
    const mend = spoilReads(engines.store, ({ stream }) => stream === damaged);
    expect(await rotate()).to.deep.equal({ rewrapped: 2, left: 1, through: false });
    mend();
    expect(await rotate()).to.deep.equal({ rewrapped: 1, left: 0, through: true });
    await requireRotated();
  });

  for (const [what, stream, rewrapped] of [
    ["a tenant of which it knows no key", () => `tenant-${ids.uuid()}`, 3],
    ["a tenant whose key it knows", () => `tenant-${known[0]?.tenantId ?? ""}`, 2],
  ] as const) it(`keeps the old key needed where only a newer release can read ${what}`, async () => {
    await engines.store.appendNewer(stream());
    expect(await rotate()).to.deep.equal({ rewrapped, left: 1, through: false });
    expect(await refusal(second)).to.include({ masterKeyId: masterKeyId(first) });
  });

  it("is through despite records that only a newer release can read, where no other key is needed", async () => {
    await engines.store.appendNewer(`tenant-${ids.uuid()}`);
    const { rotation } = processWith(first);
    expect(await rotation.finish(going)).to.deep.equal({ rewrapped: 0, left: 0, through: true });
  });

  it("takes no address for a deleted person's while only a newer release can read the person's key", async () => {
    const { tenantId } = known[0]!;
    const facts = await engines.store.readStream(`tenant-${tenantId}`);
    const isKey = ({ stream }: LogEntry) => stream.startsWith("person-");
    const readStream = async (...asked: Parameters<typeof engines.store.readStream>) =>
      (await engines.store.readStream(...asked)).map((entry) => (isKey(entry) ? fromNewer(entry) : entry));
    const { sealing, vault } = processWith(first);
    const [, user] = await new EmailOpener({ store: { readStream }, sealing, vault }, { max: 100 }).prepare(facts);
    expect(user).to.include({ type: "UserCreated", newer: true });
  });

  it("stops at addresses whose master key is missing, and goes on past those whose key is damaged", async () => {
    const [{ tenantId = "" } = {}] = known;
    const facts = await engines.store.readStream(`tenant-${tenantId}`);
    const away = await processWith(second).opener.prepare(facts).catch((error: unknown) => error);
    expect(away).to.be.instanceOf(Unsealable);

    const nobodys = masterKeyId(ids.secretBytes(32));
    const damaged = JSON.parse(JSON.stringify(facts).replaceAll(masterKeyId(first), nobodys)) as typeof facts;
    const { sealing, vault } = processWith(first);
    const readStream = async (stream: string, options?: object) =>
      stream === `tenant-${tenantId}` ? damaged : engines.store.readStream(stream, options);
    const opener = new EmailOpener({ store: { readStream }, sealing, vault }, { max: 100 });
    const [, user] = await opener.prepare(facts);
    expect(user).to.include({ type: "UserCreated", unreadable: "its address cannot be opened" });
    expect(user).to.not.have.property("data");
  });

  it("does nothing, and writes nothing, without keys to rotate", async () => {
    const head = await engines.store.head();
    const { rotation } = processWith(first, second);
    await rotation.begin();
    expect(await rotation.finish(going)).to.deep.equal({ rewrapped: 0, left: 0, through: true });
    expect(await engines.store.head()).to.equal(head);
  });

  it("may be killed before or after any append: meanwhile both keys are asked for, and it goes on", async () => {
    let appends = 0;
    engines.store.beforeAppend = () => void (appends += 1);
    await rotate();
    expect(appends).to.equal(5);
    for (let killedAt = 1; killedAt <= appends; killedAt += 1) {
      await engines.close();
      engines = await inMemoryEngines();
      first = engines.masterKey;
      const api = await startApi(engines);
      const { tenantId, webhookSecret, owner } = await createTenant(api.url);
      const other = await createTenant(api.url);
      const third = await createTenant(api.url);
      known = [{ tenantId, webhookSecret, email: owner.email }];
      for (const each of [other, third]) known.push({ ...each, email: each.owner.email });
      await api.close();
      let done = 0;
      engines.store.beforeAppend = () => {
        if ((done += 1) >= killedAt) throw new Error("killed");
      };
      expect(await rotate().catch((error: Error) => error.message)).to.equal("killed");
      engines.store.beforeAppend = () => undefined;
      if (killedAt > 1) {
        expect(await refusal(second), `killed at ${killedAt}`).to.include({
          masterKeyId: masterKeyId(first), newest: false,
        });
        expect(await refusal(first)).to.include({ masterKeyId: masterKeyId(second), newest: true });
      }
      expect(await rotate()).to.include({ left: 0, through: true });
      await requireRotated();
    }
  });

  it("re-wraps the keys that a process with the old key alone has made since", async () => {
    const api = await startApi(engines);
    // From now on this process has the platform's keys in memory, also after they are re-wrapped.
    await createTenant(api.url);
    await rotate();
    const { tenantId, webhookSecret, owner } = await createTenant(api.url);
    known.push({ tenantId, webhookSecret, email: owner.email });
    await api.close();
    expect(await rotate()).to.deep.equal({ rewrapped: 1, left: 0, through: true });
    await requireRotated();
  });

  it("waits for read models that are behind: records that they do not show yet may need the old key", async () => {
    const { readModels } = engines;
    const [caughtUp, distinct] = [readModels.caughtUp.bind(readModels), readModels.distinct.bind(readModels)];
    const waits: boolean[] = [];
    readModels.caughtUp = async (position, patienceMs) => {
      waits.push(waits.length > 0 && (await caughtUp(position, patienceMs)));
      return waits.at(-1) === true;
    };
    readModels.distinct = async (...asked) => (waits.includes(true) ? distinct(...asked) : []);
    expect(await rotate()).to.deep.equal({ rewrapped: 3, left: 0, through: true });
    await requireRotated();
  });

  it("neither disturbs a process that was given the new key as an old one, nor is undone by it", async () => {
    const { rotation, keys, aggregates, vault } = processWith(first, second);
    await rotation.begin();
    await rotate();
    await keys.get();
    for (const { tenantId, webhookSecret } of known) {
      const { state } = await aggregates.current(tenants, tenantId);
      expect(state && vault.webhookSecret(state)).to.equal(webhookSecret);
    }
    expect(await rotation.finish(going)).to.deep.equal({ rewrapped: 0, left: 0, through: false });
    await requireRotated();
  });

  it("asks for all three keys when another rotation begins before the first is through", async () => {
    const third = ids.secretBytes(32);
    await processWith(second, first).rotation.begin();
    const { rotation } = processWith(third, second, first);
    await rotation.begin();
    expect(await refusal(third, second)).to.include({ masterKeyId: masterKeyId(first) });
    expect(await refusal(third, first)).to.include({ masterKeyId: masterKeyId(second) });
    expect(await rotation.finish(going)).to.deep.equal({ rewrapped: 3, left: 0, through: true });
    expect(await refusal(third)).to.equal(null);
  });

  it("is not through where another key becomes the newest halfway: the old ones may be needed yet", async () => {
    const third = ids.secretBytes(32);
    const { rotation } = processWith(second, first);
    await rotation.begin();
    let appends = 0;
    engines.store.beforeAppend = async () => {
      if ((appends += 1) === 2) await processWith(third, second, first).rotation.begin();
    };
    expect(await rotation.finish(going)).to.deep.equal({ rewrapped: 3, left: 0, through: false });
  });

  it("may be followed by another: keys that were re-wrapped twice open with the newest key alone", async () => {
    await rotate();
    const third = ids.secretBytes(32);
    const { rotation } = processWith(third, second);
    await rotation.begin();
    expect(await rotation.finish(going)).to.deep.equal({ rewrapped: 3, left: 0, through: true });
    await requireRotated(third);
  });

  it("says how many keys each master key wraps, and which are needed", async () => {
    const count = async () => {
      const { sealing } = processWith(second, first);
      await engines.readModels.caughtUp(await engines.store.head(), 2_000);
      return keyInventory(engines.readModels, sealing);
    };
    const [secondId, firstId] = [masterKeyId(second), masterKeyId(first)];
    expect(await count()).to.deep.equal([
      { masterKeyId: secondId, wraps: 0, needed: false }, { masterKeyId: firstId, wraps: 5, needed: true },
    ]);
    await processWith(second, first).rotation.begin();
    expect(await count()).to.deep.equal([
      { masterKeyId: secondId, wraps: 2, needed: true }, { masterKeyId: firstId, wraps: 3, needed: true },
    ]);
    await rotate();
    expect(await count()).to.deep.equal([
      { masterKeyId: secondId, wraps: 5, needed: true }, { masterKeyId: firstId, wraps: 0, needed: false },
    ]);
  });

  it("keeps the old key needed while one key cannot be re-wrapped", async () => {
    const spoiled = known[1]?.tenantId ?? "";
    const { sealing, aggregates } = processWith(first);
    const dataKey = sealing.wrap(ids.secretBytes(32), "another place");
    const origin = { actor: { type: "service", part: "test" }, correlationId: "x", causationId: null } as const;
    await aggregates.change(tenants, spoiled, origin, () => [
      { type: "TenantDataKeyRewrapped" as const, data: { tenantId: spoiled, dataKey, at: "2026-01-15T09:30:00.000Z" } },
    ]);
    expect(await rotate()).to.deep.equal({ rewrapped: 2, left: 1, through: false });
    expect(await refusal(second)).to.include({ masterKeyId: masterKeyId(first) });
  });
});
