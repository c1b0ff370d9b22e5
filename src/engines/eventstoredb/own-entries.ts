import { LRUCache } from "lru-cache";
import type { NewEntry, RecordedEvent } from "../../kernel/ports/event-store.ts";
import { bytesOf, type StoredRecord } from "./records.ts";
import type { Message } from "./requests.ts";

const keptBytes = 8 * 1024 * 1024;

interface OwnEntry extends NewEntry {
  readonly stream: string;
  readonly revision: number;
  readonly bytes: number;
}

/** The newest entries that this process appended: when they come back from the log, they need no decoding. */
export class OwnEntries {
  readonly #entries = new LRUCache<string, OwnEntry>({ maxSize: keptBytes, sizeCalculation: ({ bytes }) => bytes + 1 });

  /** Call before the append is sent: its entries may come back before its answer. */
  add(stream: string, expected: number, entries: readonly NewEntry[], messages: readonly Message[]): void {
    for (const [at, { id, bytes }] of messages.entries()) {
      this.#entries.set(id, { ...entries[at]!, stream, revision: expected + 1 + at, bytes });
    }
  }

  /** The entry of a record that has the id, the place and the length of an own one. */
  of(record: StoredRecord): RecordedEvent | undefined {
    const own = this.#entries.get(record.id);
    const { stream, revision, position, id } = record;
    if (own?.stream !== stream || own.revision !== revision || own.bytes !== bytesOf(record)) return undefined;
    return { stream, revision, position, id, ...own.event, metadata: own.metadata };
  }
}
