import type { Sequence } from "../positions.ts";
import { hashStream } from "./stream-hash.ts";

/** Words of a record: hash hi, hash lo, revision, sequence lo, sequence hi with {@link goneBit}, previous record. */
export const recordWords = 6;
/** In the sequence's high word: this record deletes the stream. */
export const goneBit = 0x8000_0000;
const none = 0xffff_ffff;

/** The last revision, or a negative number for a stream without entries, see {@link deletedAt}. */
export type StreamState = number;
/** The state of a stream without any record in the log. */
export const neverSeen: StreamState = -1;
/** The revision of the record that deletes a stream for good: the highest, so that none can follow. */
export const closingRevision = 0xffff_ffff;

/** The state of a stream deleted up to a revision. */
export function deletedAt(revision: number): StreamState {
  return -(revision + 2);
}

/** The state of a stream deleted for good. */
export const closed: StreamState = deletedAt(closingRevision);

/** The revision of the next entry of a stream that is not {@link closed}. */
export function nextRevision(state: StreamState): number {
  return state >= 0 ? state + 1 : -state - 1;
}

export interface Located {
  readonly revision: number;
  readonly sequence: Sequence;
}

/** The newest part of the stream index: linked records in one block of shared memory, without objects per stream. */
export class Memtable {
  readonly #newest = new Map<string, number>();
  #words: Uint32Array<SharedArrayBuffer>;
  #count = 0;

  constructor(capacity: number) {
    this.#words = new Uint32Array(new SharedArrayBuffer(capacity * recordWords * 4));
  }

  get count(): number {
    return this.#count;
  }

  get words(): Uint32Array<SharedArrayBuffer> {
    return this.#words;
  }

  /** Undefined for a stream without a record here. */
  stateOf(stream: string): StreamState | undefined {
    const record = this.#newest.get(stream);
    if (record === undefined) return undefined;
    const revision = this.#words[record * recordWords + 2]!;
    return this.#isGone(record) ? deletedAt(revision) : revision;
  }

  /** Adds an entry, or with `gone` the stream's deletion up to this entry. */
  add(stream: string, revision: number, sequence: Sequence, gone: boolean): void {
    if ((this.#count + 1) * recordWords > this.#words.length) this.#grow();
    const previous = this.#newest.get(stream);
    const at = this.#count * recordWords;
    const words = this.#words;
    if (previous === undefined) {
      const { hi, lo } = hashStream(stream);
      words[at] = hi;
      words[at + 1] = lo;
    } else {
      words[at] = words[previous * recordWords]!;
      words[at + 1] = words[previous * recordWords + 1]!;
    }
    words[at + 2] = revision;
    words[at + 3] = sequence % 0x1_0000_0000;
    words[at + 4] = Math.floor(sequence / 0x1_0000_0000) + (gone ? goneBit : 0);
    words[at + 5] = previous ?? none;
    this.#newest.set(stream, this.#count);
    this.#count += 1;
  }

  undo(stream: string): void {
    this.#count -= 1;
    const previous = this.#words[this.#count * recordWords + 5]!;
    if (previous === none) this.#newest.delete(stream);
    else this.#newest.set(stream, previous);
  }

  /** The stream's entries with `from` <= revision <= `to`, newest first; none before a deletion. */
  *descending(stream: string, from: number, to: number): Generator<Located, void> {
    let record = this.#newest.get(stream) ?? none;
    while (record !== none && !this.#isGone(record)) {
      const at = record * recordWords;
      const revision = this.#words[at + 2]!;
      if (revision < from) return;
      if (revision <= to) yield { revision, sequence: this.#sequence(at) };
      record = this.#words[at + 5]!;
    }
  }

  #sequence(at: number): Sequence {
    return (this.#words[at + 4]! & ~goneBit) * 0x1_0000_0000 + this.#words[at + 3]!;
  }

  #isGone(record: number): boolean {
    return (this.#words[record * recordWords + 4]! & goneBit) !== 0;
  }

  #grow(): void {
    const larger = new Uint32Array(new SharedArrayBuffer(this.#words.byteLength * 2));
    larger.set(this.#words);
    this.#words = larger;
  }
}
