import { randomUUID } from "node:crypto";
import type { WebhookEvent } from "../../src/features/events/facts.ts";
import type { DataOf } from "../../src/kernel/domain/domain-event.ts";
import { streams } from "../../src/kernel/domain/streams.ts";
import { noStream, type EventStore } from "../../src/kernel/ports/event-store.ts";
import { salt } from "./recorded.ts";

/**
 * Appends an event's acceptance at the time `at`; unless `own` says otherwise, its tenant, destination and key are new.
 * Returns the event's id.
 */
export async function acceptEvent(
  log: Pick<EventStore, "append">, at: string, eventId: string = randomUUID(),
  own: Partial<DataOf<WebhookEvent, "EventAccepted">> = {},
): Promise<string> {
  const data = {
    eventId, tenantId: randomUUID(), destinationId: randomUUID(), apiKeyId: randomUUID(), senderId: null,
    senderRevision: null, idempotencyKey: null, payload: "{}", original: null, at, ...own,
  };
  const metadata = { actor: { type: "anonymous" }, correlationId: "c", causationId: null, at, salt } as const;
  await log.append(streams.event(eventId), noStream, [
    { id: randomUUID(), event: { type: "EventAccepted", data }, metadata },
  ]);
  return eventId;
}
