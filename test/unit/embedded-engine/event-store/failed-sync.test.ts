import { once } from "node:events";
import { closeSync, openSync, statSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect } from "chai";
import { logPath } from "../../../../packages/embedded-engine/src/event-store/log-file.ts";
import { onOwnDisk } from "../../../support/disk/own-disk.ts";
import { openPlainStore } from "../../../support/embedded-store.ts";
import { eventually } from "../../../support/relay.ts";

describe("a sync of the log's file that fails", () => {
  const own = onOwnDisk();

  /** Starts a process that appends until it ends. Its standard error goes to `stderr`, or is collected. */
  function load(stored: string[], stderr: number | "pipe" = "pipe") {
    const started = own.run(join(import.meta.dirname, "persistent-load.ts"), stderr);
    const told: string[] = [];
    for (const [input, lines] of [[started.stdout, stored], [started.stderr, told]] as const) {
      if (input) createInterface({ input }).on("line", (line) => lines.push(line));
    }
    return once(started, "close").then(([, signal]) => ({ signal: signal as string, told }));
  }

  /** Resolves once some of the log has been moved into its file. */
  async function allThreads(): Promise<void> {
    const size = async () => statSync(logPath(own.dataDir), { throwIfNoEntry: false })?.size ?? 0;
    await eventually(size, (bytes) => bytes > 1_000_000);
  }

  it("ends the process, and loses no acknowledged entry even after a power failure", async () => {
    const stored: string[] = [];
    const ended = load(stored);
    await allThreads();
    own.disk.anomaly({ error: "EIO", writes: 0, syncs: 0.3 });
    const { signal, told } = await ended;
    own.disk.anomaly(null);
    expect(signal, told.join("\n")).to.equal("SIGKILL");
    expect(told.join()).to.match(/log\.db could not be synced, so the relay ends .*(EIO|disk I\/O error)/);
    own.disk.losePower({ survives: () => false, torn: false });
    const store = await openPlainStore(own.dataDir);
    for (const stream of stored) expect(await store.readStream(stream), stream).to.have.length(1);
    await store.close();
  });

  it("ends the process also where standard error cannot be written", async () => {
    const full = openSync("/dev/full", "w");
    const ended = load([], full);
    closeSync(full);
    await allThreads();
    // Not all syncs fail: where no commit succeeds nothing is left to be moved, and the log's file is not synced.
    own.disk.anomaly({ error: "EIO", writes: 0, syncs: 0.3 });
    expect((await ended).signal).to.equal("SIGKILL");
  });
});
