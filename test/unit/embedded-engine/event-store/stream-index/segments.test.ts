import fs, { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import { expect } from "chai";
import fc from "fast-check";
import {
  addToBloom, bloomMayHave, bloomWords,
} from "../../../../../packages/embedded-engine/src/event-store/stream-index/bloom.ts";
import {
  Memtable, type Located,
} from "../../../../../packages/embedded-engine/src/event-store/stream-index/memtable.ts";
import { Segment } from "../../../../../packages/embedded-engine/src/event-store/stream-index/segment.ts";
import {
  SegmentDamaged, segmentWords,
} from "../../../../../packages/embedded-engine/src/event-store/stream-index/segment-format.ts";
import {
  mergeSegments, writeSegment,
} from "../../../../../packages/embedded-engine/src/event-store/stream-index/segment-jobs.ts";
import { hashStream } from "../../../../../packages/embedded-engine/src/event-store/stream-index/stream-hash.ts";
import { temporaryFolder } from "../../../../support/embedded-store.ts";
import { sized } from "../../../../support/size.ts";

interface Entry extends Located {
  readonly stream: string;
}

function write(path: string, entries: readonly Entry[]): Segment {
  const memtable = new Memtable(1);
  for (const { stream, revision, sequence } of entries) memtable.add(stream, revision, sequence, false);
  return Segment.adopt(path, writeSegment(path, memtable.words, memtable.count));
}

/** Entries of several streams interleaved at random, as in a log; `first` is the sequence of the first entry. */
function logOf(lengths: readonly number[], first: number, mix: number): Entry[] {
  const left = lengths.map((length, at) => ({ stream: `event-${first}-${at}`, length, next: 0 }));
  const entries: Entry[] = [];
  for (let sequence = first, random = mix; left.some(({ next, length }) => next < length); sequence++) {
    random = (Math.imul(random, 1103515245) + 12345) >>> 0;
    const open = left.filter(({ next, length }) => next < length);
    const chosen = open[random % open.length]!;
    entries.push({ stream: chosen.stream, revision: chosen.next++, sequence });
  }
  return entries;
}

const located = ({ revision, sequence }: Located) => ({ revision, sequence });

function expectHolds(segment: Segment, entries: readonly Entry[]): void {
  for (const stream of new Set(entries.map((entry) => entry.stream))) {
    const hash = hashStream(stream);
    const own = entries.filter((entry) => entry.stream === stream).map(located);
    expect(segment.mayHave(hash)).to.equal(true);
    for (const from of [0, Math.floor(own.length / 2), own.length]) {
      expect([...segment.ascending(hash, from)]).to.deep.equal(own.filter(({ revision }) => revision >= from));
      expect([...segment.descending(hash, from)])
        .to.deep.equal(own.filter(({ revision }) => revision <= from).toReversed());
    }
    expect([...segment.descending(hash, Infinity)]).to.deep.equal(own.toReversed());
  }
}

describe("index segments", () => {
  const folder = temporaryFolder();
  let files = 0;
  const newPath = () => join(folder.path, String(++files));
  after(() => folder.remove());

  const lengths = fc.array(fc.oneof(fc.integer({ min: 1, max: 5 }), fc.integer({ min: 1, max: 700 })), {
    minLength: 1, maxLength: 20,
  });

  it("find every entry, and none of a stream that they do not hold", () => {
    fc.assert(fc.property(lengths, fc.nat(), fc.constantFrom(1, 2 ** 32 - 50, 2 ** 45), (streams, mix, first) => {
      const entries = logOf(streams, first, mix);
      const path = newPath();
      const segment = write(path, entries);
      expect(segment.records).to.equal(entries.length);
      expect(segment.names).to.equal(streams.length);
      expectHolds(segment, entries);
      expect([...segment.ascending(hashStream("event-stranger"), 0)]).to.deep.equal([]);
      expect([...segment.descending(hashStream("event-stranger"), Infinity)]).to.deep.equal([]);
      segment.close();
      const again = Segment.open(path);
      expectHolds(again, entries);
      again.close();
    }), { numRuns: sized(15, 100) });
  });

  it("hold after a merge each entry of the inputs, once", async () => {
    const inputs = fc.array(lengths, { minLength: 1, maxLength: 5 });
    await fc.assert(fc.asyncProperty(inputs, fc.nat(), async (parts, mix) => {
      const paths: string[] = [];
      const all: Entry[] = [];
      for (const part of parts) {
        const entries = logOf(part, all.length + 1, mix);
        all.push(...entries);
        // The next input repeats the last entry: a deletion that was flushed is written like this.
        const path = newPath();
        write(path, all.slice(Math.max(0, all.length - entries.length - 1))).close();
        paths.push(path);
      }
      const path = newPath();
      const merged = Segment.adopt(path, await mergeSegments(path, paths, () => Promise.resolve()));
      expect(merged.records).to.equal(all.length);
      expectHolds(merged, all);
      merged.close();
    }), { numRuns: 15 });
  });

  it("keep a deletion as the last entry of its stream, once", () => {
    const memtable = new Memtable(4);
    for (const revision of [0, 1]) memtable.add("event-1", revision, revision + 1, false);
    memtable.add("event-1", 1, 2, true);
    memtable.add("event-2", 0, 3, false);
    const path = newPath();
    const segment = Segment.adopt(path, writeSegment(path, memtable.words, memtable.count));
    expect(segment.records).to.equal(3);
    expect([...segment.ascending(hashStream("event-1"), 0)])
      .to.deep.equal([{ revision: 0, sequence: 1 }, { revision: 1, sequence: 2 }]);
    segment.close();
  });

  it("tell apart names whose hashes share a half, also after a merge", async () => {
    const hashes = [7, 2 ** 32 - 1, 0, 2 ** 31, 9].map((lo) => ({ hi: 5, lo }));
    const names = Array.from({ length: 600 }, (_, at) => hashes[at] ?? { hi: 5, lo: 1000 + (at * 7919) % 600 });
    const paths = [0, 1].map((half) => {
      // Records as a memtable has them, each of another name.
      const records = names.flatMap(({ hi, lo }, at) => at % 2 === half ? [hi, lo, 0, at + 1, 0, 0xffff_ffff] : []);
      const path = newPath();
      writeSegment(path, Uint32Array.from(records), names.length / 2);
      return path;
    });
    const merged = newPath();
    await mergeSegments(merged, paths, () => Promise.resolve());
    const [even, odd, both] = [...paths, merged].map((path) => Segment.open(path));
    for (const [at, hash] of names.entries()) {
      for (const segment of [at % 2 === 0 ? even! : odd!, both!]) {
        expect([...segment.ascending(hash, 0)]).to.deep.equal([{ revision: 0, sequence: at + 1 }]);
      }
    }
    for (const segment of [even, odd, both]) segment!.close();
  });

  it("hold more blocks than their first buffer has room for", () => {
    const memtable = new Memtable(262_200);
    for (let revision = 0; revision < 262_200; revision++) memtable.add("event-1", revision, revision + 1, false);
    const path = newPath();
    const segment = Segment.adopt(path, writeSegment(path, memtable.words, memtable.count));
    for (const revision of [0, 300, 262_143, 262_144, 262_199]) {
      const [found] = segment.ascending(hashStream("event-1"), revision);
      expect(found).to.deep.equal({ revision, sequence: revision + 1 });
    }
    segment.close();
  });

  it("stop merging when told to", async () => {
    const path = newPath();
    write(path, logOf([3], 1, 1)).close();
    const stop = mergeSegments(newPath(), [path], () => Promise.reject(new Error("stop")));
    await stop.then(() => expect.fail("went on"), (error: Error) => expect(error.message).to.equal("stop"));
  });

  it("detect every damaged byte before they answer from it", () => {
    const entries = logOf([300, 2, 2, 90], 1, 7);
    const path = newPath();
    write(path, entries).close();
    const whole = readFileSync(path);
    const lookAtAll = () => {
      const segment = Segment.open(path);
      try {
        expectHolds(segment, entries);
        const block = new Uint32Array(256 * segmentWords);
        for (let index = 0; index * 256 < entries.length; index++) segment.readBlock(index, block);
      } finally {
        segment.close();
      }
    };
    lookAtAll();
    for (let at = 0; at < whole.length; at += 13) {
      const damaged = Buffer.from(whole);
      damaged[at] = damaged[at]! ^ 0x10;
      writeFileSync(path, damaged);
      expect(lookAtAll, `byte ${at}`).to.throw(SegmentDamaged);
    }
    for (const length of [0, 10, whole.length - 1]) {
      writeFileSync(path, whole.subarray(0, length));
      expect(lookAtAll, `cut at ${length}`).to.throw(SegmentDamaged);
    }
  });

  it("report a failed read of the disk as damage", () => {
    const path = newPath();
    const segment = write(path, logOf([3], 1, 1));
    const { readSync } = fs;
    fs.readSync = () => { throw new Error("EIO: i/o error, read"); };
    syncBuiltinESMExports();
    try {
      expect(() => segment.readBlock(0, new Uint32Array(256 * segmentWords))).to.throw(SegmentDamaged, "EIO");
      expect(() => Segment.open(path)).to.throw(SegmentDamaged, "EIO");
    } finally {
      fs.readSync = readSync;
      syncBuiltinESMExports();
      segment.close();
    }
  });

  it("leave no file open that is damaged or cannot be written, nor an input of a failed merge", async () => {
    const [input, damaged] = [newPath(), newPath()];
    write(input, logOf([3], 1, 1)).close();
    writeFileSync(damaged, "nonsense");
    const { writeSync } = fs;
    fs.writeSync = () => { throw new Error("ENOSPC: no space left on device, write"); };
    syncBuiltinESMExports();
    const opened = readdirSync("/proc/self/fd").length;
    try {
      expect(() => write(newPath(), logOf([3], 1, 1))).to.throw("ENOSPC");
      await mergeSegments(newPath(), [input], () => Promise.resolve())
        .then(() => expect.fail("was written"), (error: Error) => expect(error.message).to.match(/^ENOSPC/));
      await mergeSegments(newPath(), [input, damaged], () => Promise.resolve())
        .then(() => expect.fail("was read"), (error: Error) => expect(error).to.be.instanceOf(SegmentDamaged));
      expect(readdirSync("/proc/self/fd")).to.have.length(opened);
    } finally {
      fs.writeSync = writeSync;
      syncBuiltinESMExports();
    }
  });

  it("have a Bloom filter that rules out nearly all unknown streams", () => {
    const names = 20_000;
    const words = new Uint32Array(bloomWords(names));
    for (let at = 0; at < names; at++) addToBloom(words, hashStream(`event-${at}`));
    let strangers = 0;
    for (let at = 0; at < names; at++) {
      expect(bloomMayHave(words, hashStream(`event-${at}`))).to.equal(true);
      if (bloomMayHave(words, hashStream(`other-${at}`))) strangers += 1;
    }
    expect(strangers / names).to.be.below(0.02);
  });

  it("use hashes that spread evenly and never change", () => {
    const seen = new Set<string>();
    const halves = [new Set<number>(), new Set<number>()];
    for (let at = 0; at < 50_000; at++) {
      const { hi, lo } = hashStream(`event-0193a1b2-0000-7000-8000-${String(at).padStart(12, "0")}`);
      seen.add(`${hi}/${lo}`);
      halves[0]!.add(hi);
      halves[1]!.add(lo);
    }
    expect(seen).to.have.length(50_000);
    // 50,000 of 2^32 values: fewer than one collision is expected in each half.
    for (const half of halves) expect(half.size).to.be.above(49_990);
    expect(hashStream("event-1")).to.deep.equal({ hi: 1693665211, lo: 3668472358 });
  });
});
