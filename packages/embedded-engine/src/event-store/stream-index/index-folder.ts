import { randomUUID } from "node:crypto";
import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { makeFolder } from "../../../../../src/kernel/files.ts";
import type { LogFile } from "../log-file.ts";
import { Segment } from "./segment.ts";
import { SegmentDamaged } from "./segment-format.ts";
import { writeSegment } from "./segment-jobs.ts";
import { StreamIndex } from "./stream-index.ts";

/** Complete and unfinished segments; file systems may add files of their own. */
const ours = /\.segment(\.new)?$/;

/** The folder of segment files. The manifest in the log lists the valid ones. */
export class IndexFolder {
  readonly #folder: string;

  constructor(dataDir: string) {
    this.#folder = join(dataDir, "index");
    makeFolder(this.#folder);
  }

  path(file: string): string {
    return join(this.#folder, file);
  }

  /** A unique name: a manifest from a backup must not name a newer segment. */
  newFile(): string {
    return `${randomUUID()}.segment`;
  }

  /** Opens the listed segments, or rebuilds the index if one is damaged. Removes segments that are not listed. */
  open(log: LogFile, memtableRecords: number): StreamIndex {
    const listed = log.listedSegments();
    let segments: Segment[] = [];
    try {
      for (const { file } of listed) segments.push(Segment.open(this.path(file)));
    } catch (error) {
      if (!(error instanceof SegmentDamaged)) throw error;
      for (const segment of segments) segment.close();
      segments = [];
      log.forgetSegments();
    }
    const kept = new Set(segments.map(({ path }) => path));
    for (const file of readdirSync(this.#folder)) {
      if (ours.test(file) && !kept.has(this.path(file))) rmSync(this.path(file));
    }

    const index = new StreamIndex(segments, memtableRecords, (sequence) => log.rowHead(sequence));
    const indexed = segments.length > 0 ? listed.at(-1)!.upTo : 0;
    for (const { stream, revision, sequence, gone } of log.rowHeadsAfter(indexed)) {
      index.add(stream, revision, sequence, gone);
      index.mark();
      if (index.activeRecords >= memtableRecords) this.#flush(log, index, sequence);
    }
    return index;
  }

  #flush(log: LogFile, index: StreamIndex, upTo: number): void {
    const frozen = index.freeze();
    const file = this.newFile();
    const summary = writeSegment(this.path(file), frozen.words, frozen.count);
    log.listSegment({ file, upTo });
    index.flushed(Segment.adopt(this.path(file), summary));
  }
}
