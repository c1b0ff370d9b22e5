import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect } from "chai";
import { bringUp, type KeptFile } from "../../../../packages/embedded-engine/src/sqlite/conversion.ts";
import { copyDatabases } from "../../../../packages/embedded-engine/src/sqlite/copy-databases.ts";
import { formatOf, marking, requireFormat } from "../../../../packages/embedded-engine/src/sqlite/file-format.ts";
import { SystemClock } from "../../../../src/engines/system/system-clock.ts";
import { failureOf } from "../../../contract/event-store/harness.ts";
import { temporaryFolder } from "../../../support/embedded-store.ts";
import { quiet } from "../../../support/telemetry.ts";

const own = { version: 5, release: "1.22.3" };

describe("the format of a database file", () => {
  let folder: ReturnType<typeof temporaryFolder>;
  let path: string;
  beforeEach(() => {
    folder = temporaryFolder();
    path = join(folder.path, "some.db");
  });
  afterEach(() => folder.remove());

  /** Makes a file with a table, and leaves it as a kill would: the last writes are in its write-ahead log. */
  function make(name: string, ...sqls: readonly string[]): string {
    const made = join(folder.path, "made");
    const target = join(folder.path, name);
    const database = new DatabaseSync(made);
    database.exec("PRAGMA journal_mode = WAL; CREATE TABLE kept (value INTEGER);");
    database.prepare("PRAGMA wal_checkpoint(TRUNCATE)").get();
    for (const sql of sqls) database.exec(sql);
    for (const suffix of ["", "-wal"]) copyFileSync(`${made}${suffix}`, `${target}${suffix}`);
    database.close();
    rmSync(made);
    return target;
  }
  /** The names, contents and times of all files except SQLite's shared-memory files. */
  const contents = () => readdirSync(folder.path).filter((name) => !name.endsWith("-shm")).toSorted()
    .map((name) => [name, readFileSync(join(folder.path, name)), statSync(join(folder.path, name)).mtimeMs]);
  const kept = (file: string, format = own): KeptFile => ({ path: file, format, converters: [] });
  const bringUpAll = (...files: readonly KeptFile[]) => bringUp(files, { clock: new SystemClock(), logger: quiet });

  it("is the one marked in the file, also where the mark is only in the write-ahead log, and in a backup", () => {
    make("some.db", marking(own));
    expect(formatOf(path)).to.deep.equal(own);
    mkdirSync(join(folder.path, "backup"));
    copyDatabases(["some.db"], folder.path, join(folder.path, "backup"));
    expect(formatOf(join(folder.path, "backup", "some.db"))).to.deep.equal(own);
  });

  it("is version 1 for a file with tables but no mark, and none without a file or a table", () => {
    expect(formatOf(path)).to.equal(null);
    writeFileSync(path, "");
    expect(formatOf(path)).to.equal(null);
    make("some.db");
    expect(formatOf(path)).to.deep.equal({ version: 1, release: null });
  });

  it("is read without writing or making a file", () => {
    const database = new DatabaseSync(path);
    database.exec(`PRAGMA journal_mode = WAL; CREATE TABLE kept (value INTEGER); ${marking(own)}`);
    database.close();
    const before = contents();
    expect(formatOf(path)).to.deep.equal(own);
    expect(readdirSync(folder.path)).to.deep.equal(["some.db"]);
    make("some.db", marking(own));
    const killed = contents();
    expect(formatOf(path)).to.deep.equal(own);
    expect(contents()).to.deep.equal(killed);
    expect(before).to.have.length(1);
  });

  it("of a newer release is refused with the release's name, before any file is written", async () => {
    const older = make("older.db", marking({ version: 4, release: "1.0.0" }));
    const newer = make("newer.db", marking({ version: 6, release: "2.0.10" }));
    const before = contents();
    const converters = [{ makes: own, steps: () => [] }];
    const first = { ...kept(older), converters };
    for (const files of [[kept(newer), first], [first, kept(newer)]]) {
      expect((await failureOf(bringUpAll(...files))).message)
        .to.equal(`${newer}: is of version 6, which needs release 2.0.10 or later; this one reads 5`);
      expect(contents()).to.deep.equal(before);
    }
  });

  it("of a version that no converter leads on from is refused", async () => {
    make("some.db", marking({ version: 3, release: "0.9.0" }));
    const converters = [{ makes: own, steps: () => [] }];
    expect((await failureOf(bringUpAll({ ...kept(path), converters }))).message)
      .to.equal(`${path}: is of version 3, which this release cannot bring to version 5`);
  });

  it("of a new file needs no converter", async () => {
    writeFileSync(path, "");
    await bringUpAll(kept(path), kept(join(folder.path, "none.db")));
    expect(readdirSync(folder.path)).to.deep.equal(["some.db"]);
  });

  it("must be this release's where a file is only read", () => {
    for (const good of [null, own]) expect(() => requireFormat(good, own)).to.not.throw();
    expect(() => requireFormat({ version: 1, release: "0.1.0" }, own))
      .to.throw("is of version 1: a start of the relay brings it to version 5");
    expect(() => requireFormat({ version: 6, release: "2.0.0" }, own))
      .to.throw("is of version 6, which needs release 2.0.0 or later; this one reads 5");
    expect(() => requireFormat({ version: 6, release: null }, own))
      .to.throw("is of version 6, which needs a later release; this one reads 5");
  });

  it("of a damaged file is unknown: the error names the file", async () => {
    writeFileSync(path, "nonsense".repeat(1000));
    expect((await failureOf(bringUpAll(kept(path)))).message).to.equal(`${path}: file is not a database`);
  });
});
