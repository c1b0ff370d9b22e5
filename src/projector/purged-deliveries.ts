import { messageIn, withDeliveries } from "../features/messages/facts.ts";
import { purgedOf } from "../features/messages/messages.ts";
import { streams } from "../kernel/domain/streams.ts";
import type { EventStore, LogEntry } from "../kernel/ports/event-store.ts";
import { eventIdIn } from "./entries.ts";

type Log = Pick<EventStore, "readStream">;

/**
 * The entries with the facts of deliveries, but for purged ones: their own facts are gone, and so they would wait for
 * ever. Rejects with LogUnavailable.
 */
export async function withDeliveriesLeft(log: Log, entries: readonly LogEntry[]): Promise<readonly LogEntry[]> {
  const facts = withDeliveries(entries);
  if (facts === entries) return entries;
  const gone = new Set<string>();
  for (const entry of entries) {
    const message = messageIn(entry);
    if (!message) continue;
    for (const eventId of await purgedOf(log, message)) {
      const [first] = await log.readStream(streams.event(eventId), { limit: 1 });
      if (!first) gone.add(eventId);
    }
  }
  return gone.size === 0 ? facts : facts.filter((fact) => !gone.has(eventIdIn(fact) ?? ""));
}
