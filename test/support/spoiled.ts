import type { EventStore, LogEntry, UnreadableEntry } from "../../src/kernel/ports/event-store.ts";

/** The entry as a log shows it whose data cannot be read any more. */
export function spoiled({ stream, revision, position, id, type }: LogEntry): UnreadableEntry {
  return { stream, revision, position, id, type, unreadable: "spoiled", newer: false };
}

/** The entry as a process shows it that does not know its version yet. */
export function fromNewer({ stream, revision, position, id, type }: LogEntry): UnreadableEntry {
  return { stream, revision, position, id, type, unreadable: "unknown version", newer: true };
}

/** Makes a store read chosen entries as {@link spoiled}, until the returned function is called. */
export function spoilReads(store: Pick<EventStore, "readStream">, isSpoiled: (entry: LogEntry) => boolean): () => void {
  const read = store.readStream.bind(store);
  store.readStream = async (stream, options) =>
    (await read(stream, options)).map((entry) => (isSpoiled(entry) ? spoiled(entry) : entry));
  // Without the override, the method of the class is back.
  return () => void Reflect.deleteProperty(store, "readStream");
}
