import { project } from "../../projections/index.ts";
import type { LogEntry, UnreadableEntry } from "../kernel/ports/event-store.ts";
import type { Change } from "../kernel/ports/read-models.ts";

/** The changes of an entry. An entry that the projections cannot take is as unreadable as one that the codec cannot. */
export function changesOf(entry: LogEntry): readonly Change[] | UnreadableEntry {
  if (entry.unreadable !== undefined) return entry;
  try {
    return project(entry);
  } catch (error) {
    const { stream, revision, position, id, type } = entry;
    return { stream, revision, position, id, type, unreadable: `not projected: ${String(error)}`, newer: false };
  }
}
