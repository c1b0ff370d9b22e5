import { closeSync, openSync, readdirSync, readFileSync, readlinkSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { expect } from "chai";
import { CommitEngine } from "../../../../packages/embedded-engine/src/event-store/commit-engine.ts";
import { Housekeeping } from "../../../../packages/embedded-engine/src/event-store/housekeeping.ts";
import { LogFile, logPath, openToRead } from "../../../../packages/embedded-engine/src/event-store/log-file.ts";
import { defaultTuning } from "../../../../packages/embedded-engine/src/event-store/protocol.ts";
import { IndexFolder } from "../../../../packages/embedded-engine/src/event-store/stream-index/index-folder.ts";
import { Segment } from "../../../../packages/embedded-engine/src/event-store/stream-index/segment.ts";
import { noStream } from "../../../../src/kernel/ports/event-store.ts";
import { until } from "../../../contract/event-store/harness.ts";
import { temporaryFolder } from "../../../support/embedded-store.ts";
import { withoutThreads } from "../../../support/no-threads.ts";

const tuning = { ...defaultTuning, memtableRecords: 4, mergeFanout: 2, retryDelayMs: 1, scrubDelayMs: 1 };

/** Lets the calls of a method with the given numbers fail. Returns the function that restores the method. */
function failing<Name extends string>(
  owner: Record<Name, (...given: never[]) => unknown>, name: Name, calls: readonly number[],
): () => void {
  const own = owner[name];
  let call = 0;
  owner[name] = (...given) => {
    call += 1;
    if (calls.includes(call)) throw new Error("EMFILE: too many open files");
    return own.apply(owner, given);
  };
  return () => (owner[name] = own);
}

describe("housekeeping", () => {
  let folder: ReturnType<typeof temporaryFolder>;
  let parts: ConstructorParameters<typeof Housekeeping>[0];
  let housekeeping: Housekeeping;
  let streams: number;
  let damages: string[];
  let restore: (() => void) | undefined;

  beforeEach(() => {
    folder = temporaryFolder();
    streams = 0;
    const path = logPath(folder.path);
    const log = new LogFile(path);
    const indexFolder = new IndexFolder(folder.path);
    const index = indexFolder.open(log, tuning.memtableRecords);
    const engine = new CommitEngine(log, index, (damage) => { throw damage; });
    damages = [];
    parts = {
      path, descriptor: openSync(path, "r"), log, index, folder: indexFolder, engine, tuning,
      onAnomaly: () => undefined,
      onDamage: ({ message }) => damages.push(message),
    };
    housekeeping = new Housekeeping(parts);
  });
  afterEach(async () => {
    restore?.();
    await housekeeping.close();
    for (const segment of parts.index.segments) segment.close();
    parts.log.close();
    closeSync(parts.descriptor);
    folder.remove();
  });

  /** Commits as many entries as make a segment, each to a stream of its own. */
  const commit = () => {
    for (let entry = 0; entry < tuning.memtableRecords; entry++) {
      const [stream, text] = [`event-${streams += 1}`, String(streams)];
      const append = { streams: [stream], expected: [noStream], counts: [1], texts: [text, "Noted", "{}", "{}"] };
      parts.engine.commit([{ kind: "append", batch: streams, ...append }]);
    }
  };

  /** Commits a segment's entries, and waits until the segment is written. */
  const flush = async () => {
    commit();
    const { flushes } = housekeeping.counts;
    housekeeping.afterCommit();
    await until("a segment is written", () => housekeeping.counts.flushes > flushes);
  };
  const openSegments = () => readdirSync("/proc/self/fd").filter((descriptor) => {
    try {
      return readlinkSync(join("/proc/self/fd", descriptor)).startsWith(join(folder.path, "index"));
    } catch {
      // The descriptor by which the list was read.
      return false;
    }
  });

  const remove = (stream: string) => {
    parts.engine.commit([{ kind: "delete", request: streams += 1, stream, expected: null, forGood: false }]);
    housekeeping.afterCommit();
  };

  it("starts its thread for the first job, and tries again if the system gives none", async () => {
    const tasks = "/proc/self/task";
    const threads = () => readdirSync(tasks).map((task) => readFileSync(join(tasks, task, "comm"), "utf8").trim());
    expect(threads()).not.to.include("housekeeping");
    const anomalies: string[] = [];
    housekeeping = new Housekeeping({ ...parts, onAnomaly: (trouble) => anomalies.push(trouble) });
    await withoutThreads(async () => {
      commit();
      housekeeping.afterCommit();
      await until("it has failed often", () => anomalies.length > 0);
    });
    expect(anomalies[0]).to.equal("writing a segment: the system gives no thread");
    await until("a segment is written", () => housekeeping.counts.flushes === 1);
    expect(threads()).to.include("housekeeping");
  });

  it("merges the segments of a newly built index, before anything is committed", async () => {
    for (let segment = 0; segment < 4; segment++) commit();
    await housekeeping.close();
    const index = parts.folder.open(parts.log, tuning.memtableRecords);
    expect(index.segments.length).to.be.greaterThan(2);
    parts = { ...parts, index };
    housekeeping = new Housekeeping(parts);
    await until("segments are merged", () => index.segments.length === 1);
    for (let stream = 1; stream <= streams; stream++) expect(index.stateOf(`event-${stream}`)).to.equal(0);
  });

  it("tries one secure erase at a time while a reader is in the way, then one for later deletions", async () => {
    await flush();
    const scrub = housekeeping.scrub.bind(housekeeping);
    const truncate = parts.log.truncate.bind(parts.log);
    let [scrubs, done, tries] = [0, 0, 0];
    housekeeping.scrub = async () => {
      scrubs += 1;
      await scrub();
      done += 1;
    };
    parts.log.truncate = () => {
      tries += 1;
      housekeeping.afterCommit();
      return false;
    };
    remove("event-1");
    await until("the reader was in the way often", () => tries > 100);
    expect(scrubs, "begun").to.equal(1);
    remove("event-2");
    parts.log.truncate = truncate;
    await until("all is scrubbed", () => done === 2);
    expect(scrubs).to.equal(2);
  });

  it("moves pages that a reader kept in the write-ahead log in its thread: no commit waits for that", async () => {
    await flush();
    const reader = openToRead(parts.path);
    reader.exec("BEGIN");
    reader.prepare("SELECT count(*) FROM log").get();
    const large = "x".repeat(1_000_000);
    for (let entry = 0; entry < 10; entry++) {
      const texts = [`large-${entry}`, "Noted", "{}", JSON.stringify(large)];
      const append = { streams: [`large-${entry}`], expected: [noStream], counts: [1], texts };
      parts.engine.commit([{ kind: "append", batch: entry, ...append }]);
    }
    const unmoved: number[] = [];
    const truncate = parts.log.truncate.bind(parts.log);
    parts.log.truncate = (patienceMs) => {
      unmoved.push(parts.log.unmovedPages());
      return truncate(patienceMs);
    };
    const scrubbed = housekeeping.scrub();
    await until("it was tried", () => housekeeping.counts.checkpoints > 3);
    expect(parts.log.unmovedPages()).to.be.greaterThan(1_000);
    reader.exec("COMMIT");
    await scrubbed;
    reader.close();
    expect(Math.max(...unmoved)).to.be.below(100);
  });

  const spoiled = {
    damaged: (path: string) => writeFileSync(path, "no segment"),
    missing: (path: string) => rmSync(path),
  };
  for (const [how, spoil] of Object.entries(spoiled)) {
    it(`reports a segment that a merge finds ${how}`, async () => {
      await flush();
      const { path } = parts.index.segments[0]!;
      spoil(path);
      await flush();
      await until("it was told", () => damages.length > 0);
      expect(damages[0]).to.include(`index segment ${basename(path)}: `);
    });
  }

  it("keeps the write-ahead log small, however much is committed", async () => {
    await housekeeping.close();
    housekeeping = new Housekeeping({ ...parts, tuning: { ...tuning, checkpointBytes: 1, restartBytes: 1 } });
    const { counts } = housekeeping;
    for (let round = 1; round <= 20; round++) {
      // The thread moves the first commit's pages; those of the second, committed meanwhile, are moved here.
      commit();
      housekeeping.afterCommit();
      commit();
      await until("it was moved", () => counts.checkpoints >= round);
    }
    expect(statSync(`${parts.path}-wal`).size).to.be.below(600_000);
  });

  const steps = {
    "opening a segment": (calls: number[]) => failing(Segment, "adopt", calls),
    "listing a segment": (calls: number[]) => failing(parts.log, "listSegment", calls),
  };
  for (const [step, letFail] of Object.entries(steps)) {
    it(`goes on after ${step} has failed, in a flush or in a merge`, async () => {
      // The first flush, the second, and their merge: each fails at first.
      restore = letFail([1, 3, 5]);
      await flush();
      await flush();
      await until("segments are merged", () => housekeeping.counts.merges === 1);
      const { index, log } = parts;
      expect(index.segments.map(({ path }) => path)).to.deep.equal(
        log.listedSegments().map(({ file }) => parts.folder.path(file)),
      );
      expect(index.segments).to.have.length(1);
      expect(openSegments(), "left open").to.have.length(1);
      expect(readdirSync(join(folder.path, "index")), "left on disk").to.have.length(1);
      for (let stream = 1; stream <= streams; stream++) expect(index.stateOf(`event-${stream}`)).to.equal(0);
    });
  }
});
