import { join } from "node:path";
import { expect } from "chai";
import { SqliteReadModels } from "../../../../packages/embedded-engine/src/index.ts";
import { collections, fingerprint, project } from "../../../../projections/index.ts";
import { SystemClock } from "../../../../src/engines/system/system-clock.ts";
import { logStart } from "../../../../src/kernel/ports/event-store.ts";
import { readConfig } from "../../../../src/main/config/config.ts";
import { readSecrets } from "../../../../src/main/config/secrets.ts";
import { describeBacklog } from "../../../../src/main/operator/backlog.ts";
import { temporaryFolder } from "../../../support/embedded-store.ts";
import { History } from "../../../support/histories.ts";
import { quiet } from "../../../support/telemetry.ts";
import { WrittenLog } from "../../../support/written-log.ts";

describe("the description of the backlog", () => {
  let folder: ReturnType<typeof temporaryFolder>;
  beforeEach(() => { folder = temporaryFolder(); });
  afterEach(() => folder.remove());

  it("names the twenty destinations with most waiting events, and counts all", async () => {
    const all = Array.from({ length: 21 }, (_, which) => which);
    const step = (action: string, which: number) => ({ action, which, number: 2, after: 1_000 });
    const log = new WrittenLog();
    log.write(new History([
      ...all.map(() => step("registerDestination", 0)),
      ...[...all, ...all.slice(1)].map((which) => step("accept", which)),
    ]).told);
    const { entries, upTo } = await log.readLog(logStart, 1_000);
    const readModels = new SqliteReadModels(join(folder.path, "read-models.db"), new SystemClock());
    await readModels.reset(collections, fingerprint);
    await readModels.apply(entries.flatMap((entry) =>
      entry.unreadable === undefined ? [{ position: entry.position, changes: project(entry) }] : []), upTo);
    await readModels.close();
    const environment = { RELAY_DATA_DIR: folder.path };
    const config = readConfig(environment);
    const lines = await describeBacklog({ config, secrets: readSecrets(environment, config), logger: quiet });
    expect(lines.map((line) => line.split("  ")[0])).to.deep.equal([
      ...Array<string>(20).fill("waiting 2"), "waiting in all: 41 events for 21 destinations",
    ]);
  });
});
