import { spawn } from "node:child_process";
import { closeSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { noStream } from "../../../../src/kernel/ports/event-store.ts";
import { note, until } from "../../../contract/event-store/harness.ts";
import { openPlainStore, temporaryFolder } from "../../../support/embedded-store.ts";

/** The last line about one stream that a process printed before it was killed. */
interface Told {
  readonly revision: number;
  /** The oldest revision that is not deleted. */
  readonly oldest: number;
  readonly deleting: boolean;
  readonly deleted: boolean;
}

/** Runs the load until it has printed so many lines, then kills it; returns the lines. */
async function killUnderLoad(folder: string, lines: number): Promise<string[]> {
  const script = new URL("./load.ts", import.meta.url).pathname;
  // A file, unlike a pipe, takes every line before the next append is asked for.
  const path = join(folder, "said");
  const output = openSync(path, "w");
  const child = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", script, folder], {
    stdio: ["ignore", output, "inherit"],
  });
  closeSync(output);
  const ended = new Promise((resolve) => child.once("close", resolve));
  const said = () => readFileSync(path, "utf8").split("\n").slice(0, -1);
  try {
    await until(`the load has said ${lines} lines`, () => said().length >= lines);
  } finally {
    child.kill("SIGKILL");
    await ended;
  }
  return said();
}

describe("the embedded event store killed under load", () => {
  let folder: ReturnType<typeof temporaryFolder>;
  beforeEach(() => (folder = temporaryFolder()));
  afterEach(() => folder.remove());

  it("has every acknowledged append and deletion completely, and gives no position twice", async () => {
    let highest = "";
    const streams = new Map<string, Told>();
    for (const lines of [1, 40, 300, 900, 2000, 500]) {
      const said = await killUnderLoad(folder.path, lines);
      let newHighest = highest;
      for (const line of said) {
        const [what, stream, revision, position] = line.split(" ") as [string, string, string, string];
        if (what === "appended") {
          expect(position > highest, "positions go on after a crash").to.equal(true);
          if (position > newHighest) newHighest = position;
        }
        const [deleting, deleted] = [what === "deleting", what === "deleted"];
        const oldest = deleted ? Number(revision) + 1 : streams.get(stream)?.oldest ?? 0;
        streams.set(stream, { revision: Number(revision), oldest, deleting, deleted });
      }
      highest = newHighest;

      const store = await openPlainStore(folder.path, { memtableRecords: 200 });
      expect((await store.head()) >= highest).to.equal(true);
      for (const [stream, { revision, oldest, deleting, deleted }] of streams) {
        const entries = await store.readStream(stream);
        // A request without an answer may have been carried out: completely, or not at all.
        expect(entries.length % 3, "appends are whole").to.equal(0);
        const last = entries.at(-1)?.revision ?? noStream;
        if (deleted) {
          expect([noStream, revision + 3]).to.include(last);
        } else if (deleting) {
          expect([noStream, revision]).to.include(last);
        } else {
          expect([revision, revision + 3]).to.include(last);
        }
        const revisions = entries.map((entry) => entry.revision);
        expect(revisions).to.deep.equal(revisions.map((_, at) => oldest + at));
        if (deleted && last === noStream) {
          const again = await store.append(stream, noStream, [note("x"), note("y"), note("z")]);
          expect(again.revision).to.equal(revision + 3);
        }
      }
      highest = await store.head();
      await store.close();
    }
    expect(streams.size).to.be.above(500);
  });
});
