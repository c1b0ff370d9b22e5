import { categoryOf } from "../kernel/domain/streams.ts";
import type { LogEntry } from "../kernel/ports/event-store.ts";

/** The id of the event that a fact is about, if any. */
export function eventIdIn(entry: LogEntry): string | undefined {
  if (entry.unreadable !== undefined || categoryOf(entry.stream) !== "event") return undefined;
  return (entry.data as { readonly eventId?: string } | null)?.eventId;
}
