import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { DatabaseSync } from "node:sqlite";
import { expect } from "chai";
import {
  LogFile, logConverters, logFormat, logPath,
} from "../../../../packages/embedded-engine/src/event-store/log-file.ts";
import { bringUp, type Converter } from "../../../../packages/embedded-engine/src/sqlite/conversion.ts";
import { copyDatabases } from "../../../../packages/embedded-engine/src/sqlite/copy-databases.ts";
import { formatOf } from "../../../../packages/embedded-engine/src/sqlite/file-format.ts";
import { SystemClock } from "../../../../src/engines/system/system-clock.ts";
import { failureOf } from "../../../contract/event-store/harness.ts";
import { onOwnDisk } from "../../../support/disk/own-disk.ts";
import { temporaryFolder } from "../../../support/embedded-store.ts";
import { nextLog } from "../../../support/next-log.ts";
import { sized } from "../../../support/size.ts";
import { quiet } from "../../../support/telemetry.ts";
import type { Plan } from "./converting.ts";

const script = join(import.meta.dirname, "converting.ts");
const many = 20_000;
const few = 2_000;

interface Line {
  readonly message: string;
  readonly version?: number;
  readonly percent?: number;
}

/** Fills a log of the present release as a killed process leaves it: a part is only in the write-ahead log. */
function fillLog(dataDir: string, entries: number): void {
  const folder = temporaryFolder();
  const log = new LogFile(logPath(folder.path));
  const metadata = JSON.stringify({ at: "2026-01-01T00:00:00.000Z" });
  log.transaction(() => {
    for (let sequence = 1; sequence <= entries; sequence++) {
      const data = JSON.stringify({ number: sequence, text: "ü".repeat(sequence % 300) });
      log.insert(sequence, `event-${sequence}`, 0, `id-${sequence}`, "Noted", metadata, data);
    }
  });
  log.checkpoint();
  log.transaction(() => [7, 1_111, entries].forEach((sequence) => log.empty(sequence)));
  for (const suffix of ["", "-wal"]) copyFileSync(`${logPath(folder.path)}${suffix}`, `${logPath(dataDir)}${suffix}`);
  log.close();
  folder.remove();
}

function asked(dataDir: string, sql: string): Record<string, unknown>[] {
  const database = new DatabaseSync(logPath(dataDir), { readOnly: true });
  try {
    return database.prepare(sql).all();
  } finally {
    database.close();
  }
}

/** All rows of the log's table. */
const rowsOf = (dataDir: string) => asked(dataDir, "SELECT * FROM log ORDER BY sequence");
const countIn = (dataDir: string) => asked(dataDir, "SELECT count(*) AS entries FROM log")[0]!["entries"];

/** The rows as the last of the future releases has them. */
function converted(rows: readonly Record<string, unknown>[]): unknown[] {
  return rows.map((row) => ({ ...row, bytes: String(row["data"]).length, doubled: String(row["data"]).length * 2 }));
}

/** The log's file as this release has it. */
const presentLog = (dataDir: string) => ({ path: logPath(dataDir), format: logFormat, converters: logConverters });

const plan = (dataDir: string, of: Plan) => writeFileSync(join(dataDir, "..", "plan.json"), JSON.stringify(of));
const filesOf = (dataDir: string) => readdirSync(dataDir).filter((name) => !/-(shm|wal)$/.test(name)).toSorted();
const draftsOf = (dataDir: string) => readdirSync(dataDir).filter((name) => name.endsWith(".converting"));

/** The output of a process until its end, and how it ended. */
async function lifeOf(child: ChildProcess, onLine: (line: Line) => void = () => undefined) {
  const lines: Line[] = [];
  const errors: string[] = [];
  createInterface({ input: child.stdout! }).on("line", (text) => {
    const line = JSON.parse(text) as Line;
    lines.push(line);
    onLine(line);
  });
  createInterface({ input: child.stderr! }).on("line", (line) => errors.push(line));
  const [code, signal] = await once(child, "close") as [number | null, NodeJS.Signals | null];
  return { lines, errors, code, signal, percents: lines.flatMap(({ percent }) => percent ?? []) };
}

const run = (dataDir: string) =>
  lifeOf(spawn(process.execPath, ["--disable-warning=ExperimentalWarning", script, dataDir]));

/** The progress that the process reported, over all conversions. */
const progressOf = ({ version = 0, percent = 0 }: Line) => version * 100 + percent;

const kills = sized(4, 20);

describe("the conversion of a file of an older release", function () {
  this.timeout(120_000);
  let folder: ReturnType<typeof temporaryFolder>;
  let dataDir: string;
  beforeEach(() => {
    folder = temporaryFolder();
    dataDir = join(folder.path, "data");
    mkdirSync(dataDir);
    fillLog(dataDir, few);
  });
  afterEach(() => folder.remove());

  const bringUpHere = () => bringUp([nextLog(dataDir)], { clock: new SystemClock(), logger: quiet });

  it(`goes on after each of ${kills} kills, and ends with every entry and without the old file`, async () => {
    rmSync(logPath(dataDir));
    fillLog(dataDir, many);
    const rows = rowsOf(dataDir);
    let reached = 0;
    for (let kill = 1; kill <= kills; kill++) {
      // The two conversions write 40,000 rows. A step that a kill interrupts writes its rows once more.
      plan(dataDir, { dieAfter: 1_850 + kill * 7 });
      const { signal, lines, errors } = await run(dataDir);
      expect(signal, errors.join()).to.equal("SIGKILL");
      const told = lines.filter(({ percent }) => percent !== undefined).map(progressOf);
      expect(told[0], `the first progress after kill ${kill - 1}`).to.be.at.least(reached);
      expect(told.at(-1), `the last progress before kill ${kill}`).to.be.above(reached);
      reached = told.at(-1)!;
      expect(countIn(dataDir), `entries after kill ${kill}`).to.equal(many);
    }
    plan(dataDir, {});
    const { code, lines } = await run(dataDir);
    expect(code).to.equal(0);
    const told = lines.map(({ message }) => message);
    expect([told[0], told[1], told.at(-1)]).to.deep.equal([
      "converting a file of an older release", "still converting the file", "converted the file",
    ]);
    expect(filesOf(dataDir)).to.deep.equal(["log.db"]);
    expect(formatOf(logPath(dataDir))).to.deep.equal({ version: 4, release: "0.9.1" });
    expect(rowsOf(dataDir)).to.deep.equal(converted(rows));
  });

  it("begins again where the file was changed since the kill: entries deleted since do not come back", async () => {
    plan(dataDir, { dieAfter: 1_000 });
    expect((await run(dataDir)).signal).to.equal("SIGKILL");
    expect(draftsOf(dataDir)).to.have.length(1);
    // The release that wrote the file runs once more.
    const log = new LogFile(logPath(dataDir));
    log.transaction(() => {
      log.empty(100);
      log.insert(few + 1, "event-1", 9, "new", "Noted", "{}", "{}");
    });
    log.close();
    const rows = rowsOf(dataDir);
    await bringUpHere();
    expect(rowsOf(dataDir)).to.deep.equal(converted(rows));
    expect(filesOf(dataDir)).to.deep.equal(["log.db"]);
    expect(readFileSync(logPath(dataDir)).includes('"id-100"'), "the deleted entry").to.equal(false);
  });

  it("leaves only the copy of an entry that a deletion finds in the file", async () => {
    await bringUpHere();
    const database = new DatabaseSync(logPath(dataDir));
    database.exec("PRAGMA secure_delete = ON; UPDATE log SET id = '', type = '', metadata = '', data = ''");
    database.close();
    expect(readFileSync(logPath(dataDir)).toString("latin1").match(/"number":\d+/g)).to.equal(null);
  });

  it("leaves no draft behind where a release keeps the file as it is", async () => {
    plan(dataDir, { dieAfter: 1_000 });
    await run(dataDir);
    const rows = rowsOf(dataDir);
    await bringUp([presentLog(dataDir)], { clock: new SystemClock(), logger: quiet });
    expect(filesOf(dataDir)).to.deep.equal(["log.db"]);
    expect(rowsOf(dataDir)).to.deep.equal(rows);
  });

  it("fails, and says why, while another program has the file open", async () => {
    const other = new DatabaseSync(logPath(dataDir), { readOnly: true });
    try {
      other.prepare("SELECT count(*) FROM log").get();
      expect((await failureOf(bringUpHere())).message).to.equal(`${logPath(dataDir)}: database is locked`);
    } finally {
      other.close();
    }
    await bringUpHere();
    expect(formatOf(logPath(dataDir))!.version).to.equal(4);
  });

  it("is made of a restored backup of an older release, too", async () => {
    const rows = rowsOf(dataDir);
    const restored = join(folder.path, "restored");
    mkdirSync(restored);
    copyDatabases(["log.db"], dataDir, restored);
    await bringUp([nextLog(restored)], { clock: new SystemClock(), logger: quiet });
    expect(rowsOf(restored)).to.deep.equal(converted(rows));
  });

  it("keeps the file, and names it, where the converter fails", async () => {
    const failing: Converter = {
      makes: { version: 3, release: "0.8.0" },
      *steps(database) {
        database.exec("CREATE TABLE main.log (sequence INTEGER PRIMARY KEY)");
        yield 0.5;
        throw new Error("an entry is not as it should be");
      },
    };
    const file = { ...presentLog(dataDir), format: failing.makes, converters: [failing] };
    expect((await failureOf(bringUp([file], { clock: new SystemClock(), logger: quiet }))).message)
      .to.equal(`${logPath(dataDir)} cannot be brought to version 3: an entry is not as it should be`);
    expect(filesOf(dataDir)).to.deep.equal(["log.db"]);
    expect(countIn(dataDir)).to.equal(few);
  });
});

describe("the conversion of a file on a disk", function () {
  this.timeout(120_000);
  const own = onOwnDisk();
  beforeEach(() => fillLog(own.dataDir, few));

  it("only renames a draft that was complete when the process was killed", async () => {
    const rows = rowsOf(own.dataDir);
    for (const version of [3, 4]) {
      plan(own.dataDir, { dieAfter: 1_500 });
      expect((await lifeOf(own.run(script))).signal).to.equal("SIGKILL");
      const [draft] = draftsOf(own.dataDir);
      // The draft is opened twice: to continue the conversion, and to be synced once it is complete.
      plan(own.dataDir, {});
      own.disk.dieAt("opened", `/${draft}`, 2);
      expect((await lifeOf(own.run(script))).signal).to.equal("SIGKILL");
      expect([own.disk.stepsToDeath, formatOf(logPath(own.dataDir))!.version]).to.deep.equal([0, version - 1]);
      plan(own.dataDir, version === 3 ? { dieAfter: 1 } : {});
      const { lines } = await lifeOf(own.run(script));
      expect(lines.filter((line) => line.version === version && line.percent !== undefined)).to.deep.equal([]);
      expect(formatOf(logPath(own.dataDir))!.version).to.equal(version);
    }
    expect(rowsOf(own.dataDir)).to.deep.equal(converted(rows));
  });

  it("loses nothing in a power failure with any set of unsynced writes lost", async () => {
    const rows = rowsOf(own.dataDir);
    let changes = 0;
    for (const survives of [() => false, () => (changes += 1) % 2 === 0, () => true]) {
      plan(own.dataDir, { dieAfter: 1_000 });
      expect((await lifeOf(own.run(script))).signal).to.equal("SIGKILL");
      own.disk.losePower({ survives, torn: true });
    }
    plan(own.dataDir, {});
    for (const version of [3, 4]) {
      own.disk.dieAt("renamed", "/log.db", 1);
      expect((await lifeOf(own.run(script))).signal).to.equal("SIGKILL");
      // The new name may be lost, but never both files.
      own.disk.losePower({ survives: () => version === 3, torn: true });
    }
    expect((await lifeOf(own.run(script))).code).to.equal(0);
    // Later writes to the file must not be lost with its name.
    own.disk.losePower({ survives: () => false, torn: false });
    expect(rowsOf(own.dataDir)).to.deep.equal(converted(rows));
    // The power failure may have brought drafts back.
    expect((await lifeOf(own.run(script))).code).to.equal(0);
    expect(filesOf(own.dataDir)).to.deep.equal(["log.db"]);
  });

  for (const [error, state] of [["ENOSPC", "is full"], ["EIO", "fails"]] as const) {
    it(`fails with one line where the disk ${state}, and frees its space`, async () => {
      const rows = rowsOf(own.dataDir);
      plan(own.dataDir, { waitAfter: 1_000 });
      const child = own.run(script);
      let nudge: NodeJS.Timeout | undefined;
      const { code, errors, percents } = await lifeOf(child, ({ message }) => {
        if (message !== "waiting") return;
        own.disk.anomaly({ error, writes: 1, syncs: error === "EIO" ? 1 : 0 });
        // Repeated, since a signal that comes before the process has stopped is without effect.
        nudge = setInterval(() => child.kill("SIGCONT"), 10);
      });
      clearInterval(nudge);
      own.disk.anomaly(null);
      const why = error === "EIO" ? "disk I/O error" : "database or disk is full";
      expect(errors).to.deep.equal([`${logPath(own.dataDir)} cannot be brought to version 3: ${why}`]);
      expect([code, percents.length > 0]).to.deep.equal([1, true]);
      expect(filesOf(own.dataDir)).to.deep.equal(["log.db"]);
      expect(rowsOf(own.dataDir)).to.deep.equal(rows);
      plan(own.dataDir, {});
      expect((await lifeOf(own.run(script))).code).to.equal(0);
      expect(rowsOf(own.dataDir)).to.deep.equal(converted(rows));
    });
  }
});
