import type { Actor, DomainEvent } from "../domain/domain-event.ts";
import type { Timestamp } from "../domain/time.ts";
import type { NewEntry } from "../ports/event-store.ts";
import type { Ids } from "../ports/ids.ts";

/** On whose behalf, and through which request, something is done; ends up in the metadata of every fact. */
export interface Origin {
  readonly actor: Actor;
  readonly correlationId: string;
  readonly causationId: string | null;
}

/** The origin of actions that a part of this service takes by itself, with no request behind them. */
export function serviceOrigin(part: string, ids: Ids): Origin {
  return { actor: { type: "service", part }, correlationId: ids.uuid(), causationId: null };
}

/** Facts ready to append: each has its own message id, salt and `at`, and the shared origin and trace. */
export function entriesOf(
  events: readonly DomainEvent[], origin: Origin, ids: Ids, traceparent?: string,
): NewEntry[] {
  const { actor, correlationId, causationId } = origin;
  return events.map((event) => {
    const { at } = event.data as { readonly at: Timestamp };
    const metadata = { actor, correlationId, causationId, at, salt: ids.salt() };
    return { id: ids.uuid(), event, metadata: traceparent === undefined ? metadata : { ...metadata, traceparent } };
  });
}
