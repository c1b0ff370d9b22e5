import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import fc from "fast-check";
import {
  deletedAt, neverSeen, nextRevision, type Located, type StreamState,
} from "../../../../../packages/embedded-engine/src/event-store/stream-index/memtable.ts";
import { Segment } from "../../../../../packages/embedded-engine/src/event-store/stream-index/segment.ts";
import {
  mergeSegments, writeSegment,
} from "../../../../../packages/embedded-engine/src/event-store/stream-index/segment-jobs.ts";
import { hashStream } from "../../../../../packages/embedded-engine/src/event-store/stream-index/stream-hash.ts";
import { StreamIndex } from "../../../../../packages/embedded-engine/src/event-store/stream-index/stream-index.ts";
import { temporaryFolder } from "../../../../support/embedded-store.ts";
import { sized } from "../../../../support/size.ts";

/** Found by trying 48 million beginnings of names. */
const sameHash = ["event-dxj9za", "event-py0h5⍱"] as const;
const names = ["a", "b", "tenant-1", "event-é", ...sameHash] as const;
const name = fc.constantFrom(...names);

type Step =
  | { readonly do: "append" | "appendAndUndo"; readonly stream: string; readonly entries: number }
  | { readonly do: "delete"; readonly stream: string }
  | { readonly do: "freeze" | "flush" | "reopen" }
  | { readonly do: "merge"; readonly at: number; readonly length: number };

const entries = fc.integer({ min: 1, max: 4 });
const length = fc.integer({ min: 2, max: 3 });
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 8, arbitrary: fc.record({ do: fc.constant("append" as const), stream: name, entries }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("appendAndUndo" as const), stream: name, entries }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("delete" as const), stream: name }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constantFrom("freeze" as const, "flush" as const, "reopen" as const) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("merge" as const), at: fc.nat(5), length }) },
);

/** The index under test beside its log, which is the model. */
class Both {
  readonly log: (Located & { readonly stream: string; gone: boolean })[] = [];
  readonly #folder: string;
  #files = 0;
  #frozen: { readonly words: Uint32Array; readonly count: number; readonly upTo: number } | null = null;
  #indexed = 0;
  index: StreamIndex;

  constructor(folder: string) {
    this.#folder = folder;
    mkdirSync(folder);
    this.index = this.#open([]);
  }

  #open(segments: readonly Segment[]): StreamIndex {
    return new StreamIndex(segments, 2, (sequence) => this.log[sequence - 1]);
  }

  rows(stream: string): Located[] {
    return this.log.filter((row) => row.stream === stream && !row.gone)
      .map(({ revision, sequence }) => ({ revision, sequence }));
  }

  state(stream: string): StreamState {
    const newest = this.log.findLast((row) => row.stream === stream);
    if (!newest) return neverSeen;
    return newest.gone ? deletedAt(newest.revision) : newest.revision;
  }

  async apply(next: Step): Promise<void> {
    this.index.mark();
    switch (next.do) {
      case "append":
      case "appendAndUndo": {
        const before = this.log.length;
        let revision = nextRevision(this.index.stateOf(next.stream));
        for (let entry = 0; entry < next.entries; entry++, revision++) {
          this.log.push({ stream: next.stream, revision, sequence: this.log.length + 1, gone: false });
          this.index.add(next.stream, revision, this.log.length);
        }
        if (next.do === "append") return;
        this.index.undo();
        this.log.length = before;
        return;
      }
      case "delete": {
        const newest = this.rows(next.stream).at(-1);
        if (!newest) return;
        for (const row of this.log) if (row.stream === next.stream) row.gone = true;
        this.index.add(next.stream, newest.revision, newest.sequence, true);
        return;
      }
      case "freeze":
        if (!this.#frozen && this.index.activeRecords > 0) {
          this.#frozen = { ...this.index.freeze(), upTo: this.log.length };
        }
        return;
      case "flush": {
        await this.apply({ do: "freeze" });
        if (!this.#frozen) return;
        const { words, count, upTo } = this.#frozen;
        const path = this.#path();
        this.index.flushed(Segment.adopt(path, writeSegment(path, words, count)));
        this.#indexed = upTo;
        this.#frozen = null;
        return;
      }
      case "merge": {
        const chosen = this.index.segments.slice(next.at, next.at + next.length);
        if (chosen.length < 2) return;
        const path = this.#path();
        const summary = await mergeSegments(path, chosen.map((segment) => segment.path), () => Promise.resolve());
        this.index.replace(chosen, Segment.adopt(path, summary));
        for (const segment of chosen) segment.close();
        return;
      }
      case "reopen": {
        const segments = this.index.segments.map((segment) => {
          segment.close();
          return Segment.open(segment.path);
        });
        this.#frozen = null;
        this.index = this.#open(segments);
        for (const { stream, revision, sequence, gone } of this.log.slice(this.#indexed)) {
          this.index.add(stream, revision, sequence, gone);
        }
      }
    }
  }

  check(): void {
    for (const stream of names) {
      const rows = this.rows(stream);
      const live = (found: Iterable<Located>) => [...found].filter(({ sequence }) => {
        const row = this.log[sequence - 1]!;
        return row.stream === stream && !row.gone;
      });
      expect(this.index.stateOf(stream), `state of ${stream}`).to.equal(this.state(stream));
      expect(live(this.index.ascending(stream, 0))).to.deep.equal(rows);
      expect(live(this.index.descending(stream, Infinity))).to.deep.equal(rows.toReversed());
      const middle = rows[Math.floor(rows.length / 2)]?.revision ?? 3;
      const later = rows.filter(({ revision }) => revision >= middle);
      const earlier = rows.filter(({ revision }) => revision <= middle);
      expect(live(this.index.ascending(stream, middle))).to.deep.equal(later);
      expect(live(this.index.descending(stream, middle))).to.deep.equal(earlier.toReversed());
    }
  }

  #path(): string {
    return join(this.#folder, String(++this.#files));
  }
}

describe("the stream index", () => {
  const folder = temporaryFolder();
  let runs = 0;
  after(() => folder.remove());

  it("has streams in its test whose names share a hash", () => {
    expect(hashStream(sameHash[0])).to.deep.equal(hashStream(sameHash[1]));
  });

  it("answers like a search of the log, through flushes, merges, deletions, failed commits and restarts", async () => {
    await fc.assert(fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 60 }), async (steps) => {
      const both = new Both(join(folder.path, String(++runs)));
      for (const next of steps) {
        await both.apply(next);
        both.check();
      }
      for (const segment of both.index.segments) segment.close();
    }), { numRuns: sized(50, 500) });
  });
});
