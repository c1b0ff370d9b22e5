import type { DomainEvent } from "../domain/domain-event.ts";
import { refuse } from "../domain/refusal.ts";
import type { Aggregates, AggregateType } from "../log/aggregates.ts";
import type { Caller } from "./caller.ts";

interface Deletable {
  readonly tenantId: string;
  readonly deleted: boolean;
}

/** The aggregate of this id, unless it is deleted. Throws a Refusal (not-found). */
export async function existing<State extends Deletable, Event extends DomainEvent>(
  aggregates: Aggregates, type: AggregateType<State, Event>, id: string, name: string,
): Promise<State> {
  const { state } = await aggregates.current(type, id);
  return state && !state.deleted ? state : refuse("not-found", `${name} not found`);
}

/** The aggregate of this id, of the caller's tenant, unless it is deleted. Throws a Refusal (not-found, forbidden). */
export async function ownOf<State extends Deletable, Event extends DomainEvent>(
  aggregates: Aggregates, type: AggregateType<State, Event>, id: string, caller: Caller, name: string,
): Promise<State> {
  const state = await existing(aggregates, type, id, name);
  requireOwn(state, caller, name);
  return state;
}

/** Throws a Refusal (forbidden) unless the thing is the caller's tenant's. */
export function requireOwn(thing: { readonly tenantId: string }, caller: Caller, name: string): void {
  if (thing.tenantId !== caller.tenantId) refuse("forbidden", `the ${name} belongs to another tenant`);
}
