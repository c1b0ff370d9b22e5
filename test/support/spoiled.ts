import type { LogEntry, UnreadableEntry } from "../../src/ports/event-store.ts";

/** The entry as a log shows it that can no longer read what it says. */
export function spoiled({ stream, revision, position, id, type }: LogEntry): UnreadableEntry {
  return { stream, revision, position, id, type, unreadable: "spoiled" };
}
