import { expect } from "chai";
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { logPath } from "../../../../src/adapters/embedded-event-store/log-file.ts";
import { Disk, library } from "../../../support/disk/disk.ts";
import { openPlainStore, temporaryFolder } from "../../../support/embedded-store.ts";
import { eventually } from "../../../support/relay.ts";

describe("a sync of the log's file that fails", () => {
  let folder: ReturnType<typeof temporaryFolder>;
  let dataDir: string;
  let disk: Disk;
  let child: ChildProcess | undefined;

  before(function () {
    if ("missing" in library) this.skip();
  });
  beforeEach(() => {
    folder = temporaryFolder();
    dataDir = join(folder.path, "data");
    mkdirSync(dataDir);
    disk = new Disk(dataDir);
  });
  afterEach(() => {
    child?.kill("SIGKILL");
    disk.close();
    folder.remove();
  });

  /** Starts a process that appends until it ends. */
  function load(stored: string[]) {
    disk.begin();
    const program = join(import.meta.dirname, "persistent-load.ts");
    const started = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", program, dataDir], {
      env: { ...process.env, ...disk.environment }, stdio: ["ignore", "pipe", "pipe"],
    });
    const told: string[] = [];
    createInterface({ input: started.stdout }).on("line", (line) => stored.push(line));
    createInterface({ input: started.stderr }).on("line", (line) => told.push(line));
    child = started;
    return once(started, "close").then(([, signal]) => ({ signal: signal as string, told }));
  }

  it("ends the process, and costs no acknowledged entry even where the power goes then", async () => {
    const stored: string[] = [];
    const ended = load(stored);
    // Some of it has been moved: all threads are there.
    const size = async () => statSync(logPath(dataDir), { throwIfNoEntry: false })?.size ?? 0;
    await eventually(size, (bytes) => bytes > 1_000_000);
    disk.trouble({ error: "EIO", writes: 0, syncs: 0.3 });
    const { signal, told } = await ended;
    disk.trouble(null);
    expect(signal, told.join("\n")).to.equal("SIGKILL");
    expect(told.join()).to.match(/log\.db could not be synced, so the relay ends .*(EIO|disk I\/O error)/);
    disk.losePower({ survives: () => false, torn: false });
    const store = await openPlainStore(dataDir);
    for (const stream of stored) expect(await store.readStream(stream), stream).to.have.length(1);
    await store.close();
  });
});
