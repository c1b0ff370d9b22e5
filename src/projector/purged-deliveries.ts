import { messageIn, withDeliveries, type AcceptedMessage } from "../features/messages/facts.ts";
import { purgedOf } from "../features/messages/messages.ts";
import { streams } from "../kernel/domain/streams.ts";
import type { EventStore, LogEntry } from "../kernel/ports/event-store.ts";
import { eventIdIn } from "./entries.ts";

type Log = Pick<EventStore, "readStream" | "deleteStream">;

/**
 * The entries with the facts of deliveries, but for purged ones: their own facts are gone, and so they would wait for
 * ever. A message without any delivery left is deleted, where a purge broke off before that: read models that are built
 * from here know nothing of it. Rejects with LogUnavailable.
 */
export async function withDeliveriesLeft(log: Log, entries: readonly LogEntry[]): Promise<readonly LogEntry[]> {
  const facts = withDeliveries(entries);
  if (facts === entries) return entries;
  const gone = new Set<string>();
  for (const entry of entries) {
    const message = messageIn(entry);
    if (!message) continue;
    const { deliveries } = message.data;
    const left = new Set(deliveries.map(({ eventId }) => eventId));
    for (const eventId of await purgedOf(log, message)) {
      const [first] = await log.readStream(streams.event(eventId), { limit: 1 });
      if (first) continue;
      gone.add(eventId);
      left.delete(eventId);
    }
    if (left.size > 0 || deliveries.length === 0) continue;
    gone.add(message.id);
    await remove(log, message);
  }
  return gone.size === 0 ? facts : facts.filter((fact) => !gone.has(fact.id) && !gone.has(eventIdIn(fact) ?? ""));
}

/** Deletes a message, unless its stream is gone or began again with another one. */
async function remove(log: Log, { id, stream }: AcceptedMessage): Promise<void> {
  const [first] = await log.readStream(stream, { limit: 1 });
  const [newest] = await log.readStream(stream, { backwards: true, limit: 1 });
  if (first?.id === id && newest) await log.deleteStream(stream, newest.revision);
}
