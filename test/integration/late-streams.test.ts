import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { SqliteReadModels } from "../../packages/embedded-engine/src/index.ts";
import { destinations } from "../../projections/destinations/destinations.ts";
import { collections } from "../../projections/index.ts";
import { SystemClock } from "../../src/engines/system/system-clock.ts";
import type { Change, ReadModels, ReadModelWriter } from "../../src/kernel/ports/read-models.ts";
import { mongoDbOrSkip, newDatabase, sharedMongoDb } from "../support/engines/mongodb.ts";
import { History } from "../support/histories.ts";
import { InMemoryReadModels, withoutLastOutcomes } from "../support/in-memory-read-models.ts";
import { projectorOf } from "../support/projector.ts";
import { eventually } from "../support/relay.ts";
import { WrittenLog } from "../support/written-log.ts";
import { openProcess } from "./mongodb/support.ts";

/** Read models as one process has them: a reader and a writer. */
interface Opened {
  readonly reader: ReadModels;
  readonly writer: ReadModelWriter & Pick<ReadModels, "find" | "get">;
  readonly close: () => Promise<void>;
}

interface Engine {
  readonly open: () => Promise<Opened>;
  readonly remove: () => Promise<void>;
}

function sqlite(): Engine {
  const folder = mkdtempSync(join(tmpdir(), "late-streams-"));
  return {
    open: async () => {
      const models = new SqliteReadModels(join(folder, "read-models.db"), new SystemClock());
      return { reader: models, writer: models, close: () => models.close() };
    },
    remove: async () => rmSync(folder, { recursive: true, force: true }),
  };
}

async function mongoDb(): Promise<Engine> {
  const url = newDatabase(await sharedMongoDb());
  return {
    open: async () => openProcess(url),
    remove: async () => {
      const { connection, close } = openProcess(url);
      await connection.db.dropDatabase();
      await close();
    },
  };
}

type Contents = ReturnType<InMemoryReadModels["contents"]>;

/** The documents of the expected collections, and the expected counters. */
async function contentsOf(models: ReadModels, expected: Contents): Promise<Contents> {
  const documents: Contents["documents"] = {};
  for (const { name, key } of collections.filter((one) => one.name in expected.documents)) {
    const found = await models.find({ collection: name, order: { field: key, descending: false }, limit: 10_000 });
    const byKey = Object.fromEntries(found.map((document) => [document[key] as string, document]));
    documents[name] = name === destinations.name ? withoutLastOutcomes(byKey) : byKey;
  }
  const counters: Contents["counters"] = {};
  for (const scope of Object.keys(expected.counters)) {
    counters[scope] = Object.fromEntries((await models.buckets(scope)).map(({ bucket, total }) => [bucket, total]));
  }
  return { documents, counters };
}

const newerTypes = ["DeliveryFailed", "CircuitOpened", "TenantRenamed", "UserRoleChanged"];

/** Events that fail, are retried, delivered, replayed, and given up; only a newer release reads some of the facts. */
function writeTo(log: WrittenLog): void {
  const step = (action: string, which: number) => ({ action, which, number: which, after: 5_000 });
  const lives = Array.from({ length: 12 }, (_, which) => [
    step("accept", which), step("startAttempt", which), step("fail", which), step("startAttempt", which),
    step(which % 3 === 0 ? "succeed" : "fail", which), step("changeTenant", which), step("open", which),
  ]);
  const secrets = Array.from({ length: 70 }, () => step("newSecret", 0));
  const { told } = new History([step("registerDestination", 0), step("issueKey", 0), ...lives.flat(), ...secrets]);
  for (const one of told) {
    if (newerTypes.includes(one.fact.type)) log.writeNewer([one]);
    else log.write([one]);
  }
}

const engines = { SQLite: async () => sqlite(), MongoDB: mongoDb };

for (const [name, newEngine] of Object.entries(engines)) {
  describe(`streams that waited for a newer release, in ${name}`, function () {
    this.timeout(60_000);
    let engine: Engine;
    let log: WrittenLog;

    before(async function () {
      if (name === "MongoDB") await mongoDbOrSkip(this);
    });

    beforeEach(async () => {
      engine = await newEngine();
      log = new WrittenLog();
      writeTo(log);
    });

    afterEach(() => engine.remove());

    /** Projects as one process until `isDone`, or until it dies at its n-th amendment, before or after writing it. */
    async function project(
      isDone: (reader: ReadModels) => Promise<boolean>,
      death: { readonly at: number; readonly written: boolean } = { at: Infinity, written: false },
    ): Promise<number> {
      const { reader, writer, close } = await engine.open();
      let amendments = 0;
      const died = Promise.withResolvers<true>();
      const amend = async (changes: readonly Change[]) => {
        amendments += 1;
        if (amendments < death.at) return writer.amend(changes);
        if (death.written) await writer.amend(changes);
        died.resolve(true);
        throw new Error("nobody hears of it");
      };
      const models = new Proxy(writer, {
        get: (target, key) => {
          if (key === "amend") return amend;
          const found: unknown = Reflect.get(target, key);
          return typeof found === "function" ? (found.bind(target) as unknown) : found;
        },
      });
      const runner = projectorOf({ log, models, clock: new SystemClock() });
      runner.start();
      await Promise.race([eventually(() => isDone(reader).catch(() => false), (done) => done), died.promise]);
      await runner.stop();
      await close();
      return amendments;
    }

    const covers = async (reader: ReadModels) => (await reader.checkpoint()) === (await log.head());
    const waitsForNone = async (reader: ReadModels) =>
      (await covers(reader)) && (await reader.count({ collection: "quarantine" })) === 0;

    async function expectInOrder(): Promise<void> {
      const plain = new InMemoryReadModels();
      await projectorOf({ log, models: plain, clock: new SystemClock() }).rebuild();
      const expected = plain.contents();
      const { reader, close } = await engine.open();
      const found = await contentsOf(reader, expected);
      await close();
      expect(found).to.deep.equal(expected);
    }

    it("equal a projection in log order, even when a process dies at any amendment", async () => {
      await project(covers);
      await expectInOrder();
      log.upgrade();
      let whole = 0;
      for (const written of [false, true]) {
        for (let at = 1; at <= 3; at += 1) whole = Math.max(whole, await project(waitsForNone, { at, written }));
      }
      expect(whole).to.be.at.least(2);
      await project(waitsForNone);
      await expectInOrder();
    });

    it("wait again when an older release rebuilds the read models, and return with the newer release", async () => {
      await project(covers);
      const readable = log.entries.slice();
      log.upgrade();
      const newer = log.entries.slice();
      for (const entries of [newer, readable, newer]) {
        log.entries.splice(0, log.entries.length, ...entries);
        const { writer, close } = await engine.open();
        await writer.state();
        await writer.reset([], "the fingerprint of another release");
        await writer.publish();
        await close();
        await project(entries === newer ? waitsForNone : covers);
        await expectInOrder();
      }
    });
  });
}
