import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect } from "chai";
import { SqliteReadModels } from "../../../packages/embedded-engine/src/index.ts";
import { ReadModelsUnavailable } from "../../../src/kernel/ports/read-models.ts";
import type { ProjectionRunner } from "../../../src/projector/projection-runner.ts";
import { History } from "../../support/histories.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { projectorOf } from "../../support/projector.ts";
import { eventually } from "../../support/relay.ts";
import { WrittenLog } from "../../support/written-log.ts";

const actions = ["registerDestination", "issueKey", "accept", "startAttempt", "succeed"];
const { told } = new History(actions.map((action) => ({ action, which: 0, number: 1, after: 1000 })));
const { eventId } = told.at(-1)!.fact.data as { readonly eventId: string };
const pageSize = 4_096;

describe("a projection runner whose read models are damaged", () => {
  let folder: string;
  let log: WrittenLog;
  let clock: ManualClock;
  let models: SqliteReadModels;
  let runner: ProjectionRunner;
  let anomalies: string[];

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), "damaged-"));
    log = new WrittenLog();
    clock = new ManualClock();
    log.write(told.slice(0, -1));
    open();
    await runner.rebuild();
    await models.close();
    damageEvents();
    open();
  });
  afterEach(async () => {
    await runner.stop();
    await models.close();
    rmSync(folder, { recursive: true });
  });

  const file = () => join(folder, "read-models.db");

  function open(): void {
    models = new SqliteReadModels(file(), clock);
    anomalies = [];
    const metrics = { anomaly: (kind: string) => anomalies.push(kind) };
    runner = projectorOf({ log, models, clock, metrics, batchDelayMs: 200 });
    models.onDamage((error) => runner.restart(error));
  }

  function damageEvents(): void {
    const database = new DatabaseSync(file());
    const page = database.prepare("SELECT rootpage FROM sqlite_schema WHERE name = 'c_events'").get()!["rootpage"];
    database.close();
    const descriptor = openSync(file(), "r+");
    writeSync(descriptor, Buffer.alloc(pageSize, 0x5a), 0, pageSize, (Number(page) - 1) * pageSize);
    closeSync(descriptor);
  }

  const statusOfEvent = async () => (await models.get("events", eventId))?.["status"];

  /** Waits for the runner, and skips the pauses between its tries. */
  async function expectBuiltAgain(status: string): Promise<void> {
    const head = await log.head();
    await eventually(async () => {
      clock.advance(5_000);
      return models.checkpoint();
    }, (checkpoint) => checkpoint === head, 5_000);
    expect(await statusOfEvent()).to.equal(status);
  }

  it("rebuilds them when a query meets the damage, though there is nothing to write", async () => {
    runner.start();
    await runner.drained(await log.head());
    // The runner has begun, and is idle.
    for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    const failure = await statusOfEvent().then(() => undefined, (error: unknown) => error);
    expect(failure).to.be.instanceOf(ReadModelsUnavailable);
    expect(anomalies).to.deep.equal(["projection"]);
    await expectBuiltAgain("Processing");
  });

  it("rebuilds them when a write meets the damage", async () => {
    log.write(told.slice(-1));
    runner.start();
    await expectBuiltAgain("Succeeded");
  });

  it("rebuilds them on demand", async () => {
    await runner.rebuild();
    expect(anomalies).to.deep.equal([]);
    await expectBuiltAgain("Processing");
  });
});
