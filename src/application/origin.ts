import type { Actor, DomainEvent } from "../domain/domain-event.ts";
import { timestamp } from "../domain/time.ts";
import type { Clock } from "../ports/clock/clock.ts";
import type { NewEntry } from "../ports/event-store.ts";
import type { Ids } from "../ports/ids.ts";

/** On whose behalf, and through which request, something is done; ends up in the metadata of every fact. */
export interface Origin {
  readonly actor: Actor;
  readonly correlationId: string;
  readonly causationId: string | null;
}

/** For what a part of this service does by itself, with no request behind it. */
export function serviceOrigin(part: string, ids: Ids): Origin {
  return { actor: { type: "service", part }, correlationId: ids.uuid(), causationId: null };
}

/** Where time and ids come from. */
export interface World {
  readonly clock: Clock;
  readonly ids: Ids;
}

/** Facts ready to append: each gets its own message id, the shared origin, and its own `at`. */
export function entriesOf(events: readonly DomainEvent[], origin: Origin, world: World): NewEntry[] {
  const { actor, correlationId, causationId } = origin;
  return events.map((event) => {
    const { at = timestamp(world.clock.now()) } = event.data as { readonly at?: string };
    return { id: world.ids.uuid(), event, metadata: { actor, correlationId, causationId, at } };
  });
}
