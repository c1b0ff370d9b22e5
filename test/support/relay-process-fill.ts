import { openEmbeddedEventStore } from "../../packages/embedded-engine/src/index.ts";
import { JsonEventCodec } from "../../src/engines/event-codec/event-codec.ts";
import { SystemClock } from "../../src/engines/system/system-clock.ts";
import { SystemIds } from "../../src/engines/system/system-ids.ts";
import { eventIdOf, keyOfEvent } from "../../src/kernel/domain/event-id.ts";
import { streams } from "../../src/kernel/domain/streams.ts";
import { timestamp } from "../../src/kernel/domain/time.ts";
import { noStream } from "../../src/kernel/ports/event-store.ts";

/** The origin of the events to be made. */
export interface Origins {
  readonly tenantId: string;
  readonly destinationId: string;
  readonly apiKeyId: string;
}

const atOnce = 5_000;

/** Puts accepted events into the log of a relay that is not running, as fast as the store takes them. */
export async function fillLog(dataDir: string, origins: Origins, events: number): Promise<void> {
  const clock = new SystemClock();
  const ids = new SystemIds();
  const store = await openEmbeddedEventStore({ dataDir, codec: new JsonEventCodec(), clock });
  const accept = (number: number) => {
    const now = clock.now();
    const eventId = eventIdOf(now, keyOfEvent(ids.uuid()));
    const at = timestamp(now);
    const data = {
      ...origins, eventId, senderId: null, senderRevision: null, idempotencyKey: `filled-${number}`, original: null, at,
      payload: JSON.stringify({ number, text: "x".repeat(200) }),
    };
    const actor = { type: "apiKey", id: origins.apiKeyId } as const;
    const metadata = { actor, correlationId: eventId, causationId: null, at, salt: ids.salt() };
    return store.append(streams.event(eventId), noStream, [
      { id: ids.uuid(), event: { type: "EventAccepted", data }, metadata },
    ]);
  };
  for (let done = 0; done < events; done += atOnce) {
    const count = Math.min(atOnce, events - done);
    await Promise.all(Array.from({ length: count }, (_, index) => accept(done + index)));
  }
  await store.close();
}
