import { randomUUID } from "node:crypto";
import { streams } from "../../src/domain/streams.ts";
import { noStream, type EventStore } from "../../src/ports/event-store.ts";
import { salt } from "./recorded.ts";

/** Appends an event's acceptance at the time `at`; its tenant, destination and key are new. Returns the event's id. */
export async function acceptEvent(
  log: Pick<EventStore, "append">, at: string, eventId: string = randomUUID(),
): Promise<string> {
  const data = {
    eventId, tenantId: randomUUID(), destinationId: randomUUID(), apiKeyId: randomUUID(), senderId: null,
    senderRevision: null, idempotencyKey: null, payload: "{}", original: null, at,
  };
  const metadata = { actor: { type: "anonymous" }, correlationId: "c", causationId: null, at, salt } as const;
  await log.append(streams.event(eventId), noStream, [
    { id: randomUUID(), event: { type: "EventAccepted", data }, metadata },
  ]);
  return eventId;
}
