import { requireOwn } from "../callers/access.ts";
import type { Caller } from "../callers/caller.ts";
import type { DomainEvent } from "../domain/domain-event.ts";
import { refuse } from "../domain/refusal.ts";
import type { EventStore } from "../ports/event-store.ts";
import type { Aggregates, AggregateType } from "./aggregates.ts";
import type { Moment, Moments } from "./moments.ts";
import { stateAt } from "./past-states.ts";

interface Deletable {
  readonly tenantId: string;
  readonly deleted: boolean;
}

/**
 * The view of something of the caller's tenant as it was at a moment, also where it is deleted by now. Throws a
 * Refusal: invalid for what is no moment, not-found before it began and from its deletion on, forbidden, unavailable.
 */
export async function viewAsOf<State extends Deletable, Event extends DomainEvent, View extends object>(
  parts: { readonly store: EventStore; readonly aggregates: Aggregates; readonly moments: Moments },
  { type, id, name }: { readonly type: AggregateType<State, Event>; readonly id: string; readonly name: string },
  caller: Caller,
  asOf: string,
  viewOf: (state: State, moment: Moment) => View | Promise<View>,
): Promise<View & { readonly asOf: Moment }> {
  const { store, aggregates, moments } = parts;
  const asked = moments.read(asOf);
  const { state: present } = await aggregates.current(type, id);
  if (!present) refuse("not-found", `${name} not found`);
  requireOwn(present, caller, name);
  const { moment } = await moments.find(caller.tenantId, asked);
  const state = await stateAt(store, type, id, moment.position);
  if (!state || state.deleted) refuse("not-found", `${name} not found at that moment`);
  return { ...(await viewOf(state, moment)), asOf: moment };
}
