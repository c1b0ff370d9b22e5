import { expect } from "chai";
import { AesSealing } from "../../../src/engines/aes-sealing/aes-sealing.ts";
import { KeyRotation } from "../../../src/features/key-rotation/key-rotation.ts";
import { readingsOf } from "../../../src/main/readings.ts";
import { createTenant, openIngest } from "../../support/accounts.ts";
import { startApi } from "../../support/api.ts";
import { inMemoryEngines } from "../../support/api-engines.ts";
import { attemptEnded, tellCircuit } from "../../support/circuits.ts";

const shared = { engines: { watched: [], queueLag: null }, watch: { answers: () => true }, roles: [] };

describe("readings for the metrics", () => {
  it("count the keys that old master keys still wrap, down to none", async () => {
    const engines = await inMemoryEngines();
    const { store: log, readModels, clock, masterKey } = engines;
    const api = await startApi(engines);
    for (let n = 0; n < 3; n += 1) await createTenant(api.url);
    const { aggregates, ids } = api.world;
    const counted = new Set<unknown>();
    const count = readModels.count.bind(readModels);
    readModels.count = (selection) => {
      counted.add(selection.where?.["masterKeyId"]);
      return count(selection);
    };
    const reading = async (sealing: AesSealing) => {
      await readModels.caughtUp(await log.head(), 5_000);
      return readingsOf({ log, readModels, clock, sealing, ...shared }).keysUnderOldMasterKeys();
    };
    expect(await reading(new AesSealing(masterKey))).to.equal(0);
    const sealing = new AesSealing(new Uint8Array(32).fill(7), [masterKey]);
    expect(await reading(sealing)).to.equal(5);
    const rotation = new KeyRotation({ store: log, sealing, readModels, aggregates, clock, ids });
    await rotation.begin();
    expect(await reading(sealing)).to.equal(3);
    await rotation.finish(() => false);
    expect(await reading(sealing)).to.equal(0);
    // The newest master key wraps a key of every tenant: too many to count at every scrape.
    expect(counted).to.deep.equal(new Set(new AesSealing(masterKey).masterKeyIds));
    await api.close();
    await engines.close();
  });

  it("do not count the open circuit of an inactive destination: no probe will ever close it", async () => {
    const engines = await inMemoryEngines();
    const { store: log, readModels, clock, masterKey } = engines;
    const api = await startApi(engines);
    const { tenantId, owner: { client } } = await createTenant(api.url);
    const { destinationId } = await openIngest(client, tenantId);
    const open = async () => {
      await readModels.caughtUp(await log.head(), 5_000);
      return readingsOf({ log, readModels, clock, sealing: new AesSealing(masterKey), ...shared }).circuits();
    };
    await tellCircuit(api.world, { destinationId, tenantId }, attemptEnded(destinationId, false));
    expect(await open()).to.deep.equal({ Open: 1, HalfOpen: 0 });
    await client.patch(`/api/v1/destinations/${destinationId}`, { status: "inactive" });
    expect(await open()).to.deep.equal({ Open: 0, HalfOpen: 0 });
    await api.close();
    await engines.close();
  });
});
