import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect } from "chai";
import { startReceiver, type Receiver } from "../support/receiver.ts";
import { eventually, openAccount, type Account } from "../support/relay.ts";
import { RelayProcess, runRelay } from "../support/relay-process.ts";

const names = ["log.db", "state.db", "read-models.db"] as const;

describe("the files of a data folder", function () {
  this.timeout(120_000);
  let receiver: Receiver;
  let relay: RelayProcess;
  let account: Account;
  beforeEach(async () => {
    receiver = await startReceiver();
    relay = await RelayProcess.start(receiver);
    account = await openAccount(relay.url);
    await relay.sigterm();
  });
  afterEach(async function () {
    await relay.closeAfter(this);
    await receiver.close();
  });

  const pathOf = (name: string) => join(relay.dataDir, name);
  /** Marks a file; 0 removes the mark. */
  const mark = (name: string, version: number, release: number) => {
    const database = new DatabaseSync(pathOf(name));
    database.exec(`PRAGMA user_version = ${version}; PRAGMA application_id = ${release}`);
    database.close();
  };
  const marks = () => Object.fromEntries(names.map((name) => {
    const database = new DatabaseSync(pathOf(name), { readOnly: true });
    const one = (what: string) => Object.values(database.prepare(`PRAGMA ${what}`).get()!)[0];
    const found = [one("user_version"), one("application_id")];
    database.close();
    return [name, found];
  }));
  const contents = () => names.map((name) => [name, readFileSync(pathOf(name)), statSync(pathOf(name)).mtimeMs]);
  const users = async () => (await relay.at(account.owner).get("/api/v1/users"))["total"];
  /** A start, and every command. */
  const uses = () => [
    [], ["rebuild"], ["backup", join(relay.dataDir, "..", "backup")], ["backlog"], ["keys"], ["rewrap"],
    ["reset-owner-password", account.email], ["erase-tenant", account.tenantId],
    ["erase-tenant", account.tenantId, "--yes"],
  ];

  it("have the versions of 0.1.0: older releases open them, and no converter is needed", async () => {
    const present = { "log.db": [2, 1000], "state.db": [1, 1000], "read-models.db": [1, 1000] };
    expect(marks()).to.deep.equal(present);
    // Releases 0.1.0 and 0.2.0 mark the log only, and with its version only.
    mark("log.db", 2, 0);
    mark("state.db", 0, 0);
    mark("read-models.db", 0, 0);
    for (const command of ["backlog", "keys"]) expect((await relay.command(command)).code, command).to.equal(0);
    await relay.start();
    expect(await users()).to.equal(1);
    await relay.sigterm();
    expect(marks()).to.deep.equal(present);
    const made = relay.lines.map(({ msg }) => String(msg)).filter((msg) => /convert|are built/.test(msg));
    expect(made, "what was made of other files").to.deep.equal(["the read models are built: lists answer from them"]);
  });

  for (const name of ["log.db", "state.db"] as const) {
    it(`are refused by a start and by every command, and stay unchanged, if ${name} is newer`, async () => {
      mark(name, 9, 1_002_003);
      const before = contents();
      for (const args of uses()) {
        const { code, stdout, stderr } = await runRelay(relay.environment, args);
        expect([code, stdout], args.join(" ")).to.deep.equal([1, ""]);
        const why = `is of version 9, which needs release 1.2.3 or later; this one reads ${name === "log.db" ? 2 : 1}`;
        expect(stderr).to.match(/^[^:\n]+: /).and.satisfy((line: string) =>
          line.endsWith(`: RELAY_DATA_DIR: ${pathOf(name)}: ${why}\n`) && line.split("\n").length === 2);
        expect(contents(), args.join(" ")).to.deep.equal(before);
      }
      expect(existsSync(join(relay.dataDir, "..", "backup"))).to.equal(false);
    });
  }

  it("are refused by every command, but rebuilt by a start, if read-models.db is newer", async () => {
    mark("read-models.db", 9, 1_002_003);
    for (const args of [["backlog"], ["keys"], ["erase-tenant", account.tenantId]]) {
      const { code, stderr } = await runRelay(relay.environment, args);
      expect(code, args.join(" ")).to.equal(1);
      expect(stderr).to.match(/: RELAY_DATA_DIR: .*read-models\.db: is of version 9, which needs release 1\.2\.3 /);
    }
    await relay.start();
    await eventually(() => users().catch(() => 0), (total) => total === 1);
    await relay.sigterm();
    expect(marks()["read-models.db"]).to.deep.equal([1, 1000]);
  });
});
