import type { DestinationAuth } from "../../features/destinations/facts.ts";
import { facts } from "../../features/facts.ts";
import type { Actor, DomainEvent, Metadata } from "./domain-event.ts";

/** The shown fields of a fact's data: none if no history has the fact; of authentication only the kind. */
export function shownData({ type, data }: DomainEvent): object {
  const shown = facts.get(type)?.shown ?? [];
  if (shown === "all") return data;
  const { auth, ...fields } = Object.fromEntries(Object.entries(data).filter(([name]) => shown.includes(name)));
  return auth === undefined ? fields : { ...fields, authType: (auth as DestinationAuth | null)?.type ?? null };
}

/** A fact of a history. */
export interface HistoryItem {
  readonly type: string;
  readonly revision: number;
  readonly position: string;
  readonly time: string;
  readonly actor: Actor;
  /** The id of the request that wrote it; of an attempt, that of the request by which the event was accepted. */
  readonly correlationId: string;
  readonly data: object;
}

/** A fact as the API shows it, from its entry in the log. */
export function historyItem(
  fact: DomainEvent & { readonly revision: number; readonly position: string; readonly metadata: Metadata },
): HistoryItem {
  const { type, revision, position, metadata: { actor, correlationId, at: time } } = fact;
  return { type, revision, position, time, actor, correlationId, data: shownData(fact) };
}
