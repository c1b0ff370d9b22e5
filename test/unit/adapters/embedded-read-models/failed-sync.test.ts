import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect } from "chai";
import { Disk, library } from "../../../support/disk/disk.ts";
import { temporaryFolder } from "../../../support/embedded-store.ts";

describe("a sync of the read models' file that fails as their write-ahead log is emptied", () => {
  let folder: ReturnType<typeof temporaryFolder>;
  let disk: Disk;
  let child: ChildProcess | undefined;

  before(function () {
    if ("missing" in library) this.skip();
  });
  beforeEach(() => {
    folder = temporaryFolder();
    mkdirSync(join(folder.path, "data"));
    disk = new Disk(join(folder.path, "data"));
  });
  afterEach(() => {
    child?.kill("SIGKILL");
    disk.close();
    folder.remove();
  });

  it("ends the process before the log is let go", async () => {
    disk.begin();
    const program = [join(import.meta.dirname, "scrubbing.ts"), join(folder.path, "data")];
    const started = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", ...program], {
      env: { ...process.env, ...disk.environment }, stdio: ["ignore", "pipe", "pipe"],
    });
    child = started;
    const [told, ended] = [text(started.stderr), once(started, "close")];
    await once(started.stdout, "data");
    disk.trouble({ error: "EIO", writes: 0, syncs: 1 });
    expect((await ended)[1]).to.equal("SIGKILL");
    expect(await told).to.match(/read-models\.db could not be synced, so the relay ends /);
  });
});
