import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SqliteExpiringState } from "../../packages/embedded-engine/src/index.ts";
import { collections, fingerprint } from "../../projections/index.ts";
import { AesSealing } from "../../src/engines/aes-sealing/aes-sealing.ts";
import { SystemClock } from "../../src/engines/system/system-clock.ts";
import { SystemIds } from "../../src/engines/system/system-ids.ts";
import { EmailOpener } from "../../src/features/people/persons/email-opener.ts";
import type { EventStore } from "../../src/kernel/ports/event-store.ts";
import type { ExpiringState } from "../../src/kernel/ports/expiring-state.ts";
import type { ReadModels } from "../../src/kernel/ports/read-models.ts";
import { Vault } from "../../src/kernel/sealing/vault.ts";
import type { Config } from "../../src/main/config/config.ts";
import { openEngines } from "../../src/main/engines/engines.ts";
import type { ProjectionRunner } from "../../src/projector/projection-runner.ts";
import { startEventStoreDb } from "./engines/eventstoredb.ts";
import { newDatabase, sharedMongoDb } from "./engines/mongodb.ts";
import { InMemoryEventStore } from "./in-memory-event-store.ts";
import { InMemoryReadModels } from "./in-memory-read-models.ts";
import { projectorOf } from "./projector.ts";
import { quiet, uncounted } from "./telemetry.ts";

/** The machine's time, which a test may advance. */
export class TestClock extends SystemClock {
  #ahead = 0;

  override now(): number {
    return super.now() + this.#ahead;
  }

  advance(ms: number): void {
    this.#ahead += ms;
  }
}

/** The engines that several processes share. */
export interface SharedEngines {
  /** The API's clock. */
  readonly clock: TestClock;
  readonly store: EventStore;
  readonly readModels: ReadModels;
  readonly state: ExpiringState;
  readonly masterKey: Uint8Array;
  readonly close: () => Promise<void>;
}

/** Engines that a test can make fail, and whose clock it advances; any log may be given. */
export interface InMemoryEngines<Log extends EventStore = InMemoryEventStore> extends SharedEngines {
  readonly store: Log;
  readonly readModels: InMemoryReadModels;
  /** Keeps the read models up with the log. */
  readonly projector: ProjectionRunner;
  /** Keeps the read models behind the log until the returned function is called. */
  holdBackProjector(): () => void;
}

/** Fresh engines in memory; the expiring state keeps the test's time. */
export function inMemoryEngines(): Promise<InMemoryEngines> {
  return enginesOver(new InMemoryEventStore());
}

/** The same over a log that the caller closes. */
export async function enginesOver<Log extends EventStore>(store: Log): Promise<InMemoryEngines<Log>> {
  const clock = new TestClock();
  const readModels = new InMemoryReadModels();
  await readModels.reset(collections, fingerprint);
  const state = new SqliteExpiringState(":memory:", clock);
  const masterKey = new SystemIds().secretBytes(32);
  const sealing = new AesSealing(masterKey);
  const opener = new EmailOpener({ store, sealing, vault: new Vault(sealing) }, { max: 100 });
  let gate = Promise.resolve();
  let letGo = () => {};
  const holdBackProjector = () => {
    // A failed test may still hold the projector back.
    letGo();
    ({ promise: gate, resolve: letGo } = Promise.withResolvers<void>());
    return letGo;
  };
  const projector = projectorOf({
    log: store,
    models: readModels,
    clock,
    prepare: async (entries) => {
      await gate;
      return opener.prepare(entries);
    },
  });
  projector.start();
  return {
    clock,
    store,
    readModels,
    state,
    masterKey,
    projector,
    holdBackProjector,
    close: async () => {
      letGo();
      await projector.stop();
      await state.close();
    },
  };
}

/** Fresh embedded engines, in a folder of their own. Their expiring state keeps the machine's time. */
export function embeddedEngines(): Promise<SharedEngines> {
  return openedEngines({ eventStore: { engine: "embedded" }, readModels: { engine: "embedded" } });
}

/** A log in EventStoreDB and a database in MongoDB, or in their substitutes. They keep the machine's time. */
async function outsideEngines(): Promise<SharedEngines> {
  const [eventStoreDb, mongoDb] = await Promise.all([startEventStoreDb(), sharedMongoDb()]);
  const engines = await openedEngines({
    eventStore: { engine: "eventstoredb", url: eventStoreDb.url },
    readModels: { engine: "mongodb", url: newDatabase(mongoDb) },
  });
  const close = async () => {
    await engines.close();
    await eventStoreDb.stop();
  };
  return { ...engines, close };
}

async function openedEngines(chosen: Pick<Config, "eventStore" | "readModels">): Promise<SharedEngines> {
  const folder = mkdtempSync(join(tmpdir(), "relay-api-"));
  const masterKey = new SystemIds().secretBytes(32);
  const clock = new TestClock();
  const fail = (error: Error) => {
    throw error;
  };
  const settings = {
    config: { dataDir: join(folder, "data"), queue: { engine: "embedded" } as const, ...chosen },
    secrets: { oldMasterKeys: [], kafkaPassword: null },
    masterKey,
    projects: true,
    logger: quiet,
    metrics: uncounted,
    onFatal: fail,
  };
  const engines = await openEngines({ ...settings, clock: new SystemClock() });
  await engines.projector?.follow();
  const { store, readModels, state } = engines;
  const close = async () => {
    await engines.close();
    rmSync(folder, { recursive: true, force: true });
  };
  return { clock, store, readModels, state, masterKey, close };
}

let enginesOfSuites: readonly [kind: string, open: () => Promise<SharedEngines>] = ["embedded", embeddedEngines];

/** A suite on the embedded engines, or in {@link onOutsideEngines} on those. They are closed after it. */
export function describeOnEngines(name: string, suite: (freshEngines: () => Promise<SharedEngines>) => void): void {
  const [kind, open] = enginesOfSuites;
  describe(`${name}, ${kind}`, () => {
    const opened: SharedEngines[] = [];
    suite(async () => {
      const fresh = await open();
      opened.push(fresh);
      return fresh;
    });
    after(() => Promise.all(opened.map((one) => one.close())));
  });
}

/** Has the suites of the test files that `load` imports run on EventStoreDB and MongoDB. */
export async function onOutsideEngines(load: () => Promise<unknown>): Promise<void> {
  const before = enginesOfSuites;
  enginesOfSuites = ["on EventStoreDB and MongoDB", outsideEngines];
  await load();
  enginesOfSuites = before;
}
