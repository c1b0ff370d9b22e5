import type { EventStore, LogEntry, UnreadableEntry } from "../../src/ports/event-store.ts";

/** The entry as a log shows it that can no longer read what it says. */
export function spoiled({ stream, revision, position, id, type }: LogEntry): UnreadableEntry {
  return { stream, revision, position, id, type, unreadable: "spoiled", newer: false };
}

/** The entry as a process shows it that does not know its version yet. */
export function fromNewer({ stream, revision, position, id, type }: LogEntry): UnreadableEntry {
  return { stream, revision, position, id, type, unreadable: "unknown version", newer: true };
}

/** Has a store read the entries that it is told of as {@link spoiled}, until what is answered is called. */
export function spoilReads(store: Pick<EventStore, "readStream">, isSpoiled: (entry: LogEntry) => boolean): () => void {
  const read = store.readStream.bind(store);
  store.readStream = async (stream, options) =>
    (await read(stream, options)).map((entry) => (isSpoiled(entry) ? spoiled(entry) : entry));
  // What was put over it gone, the class's own is back.
  return () => void Reflect.deleteProperty(store, "readStream");
}
