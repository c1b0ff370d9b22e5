import { at, internalFact, type EventsOf } from "../../../kernel/domain/fact.ts";
import { nullable, object, uuid, type ValueOf } from "../../../kernel/domain/schema.ts";
import { millis, type Timestamp } from "../../../kernel/domain/time.ts";

const holder = object({ tenantId: uuid(), userId: nullable(uuid()) });
/** The holder of a name: the stream in which it is used, and the user where it is an email. */
export type Holder = ValueOf<typeof holder>;

/** Facts of an `email-<hash>` or `tenantName-<hash>` stream, which makes a name unique on the platform. */
export const reservationFacts = {
  NameReserved: internalFact({
    data: { holder, at },
    meaning: "A name is taken, or about to be.",
  }),
  NameReleased: internalFact({
    data: { holder, at },
    meaning: "A name is free again.",
  }),
};
export type ReservationEvent = EventsOf<typeof reservationFacts>;

/** The holder of a name and since when; undefined if nobody ever had it; `holder` null: given back at that time. */
export type ReservationState = { readonly holder: Holder | null; readonly since: Timestamp } | undefined;

/** Folds one fact in. */
export function evolve(_state: ReservationState, event: ReservationEvent): ReservationState {
  return { holder: event.type === "NameReserved" ? event.data.holder : null, since: event.data.at };
}

/** A reservation younger than this may belong to a command still under way. */
export const takeoverAfterMs = 30_000;

/** Whether a name may be taken, is held, or is doubtful: then the holder's own stream decides. */
export function availability(state: ReservationState, now: Timestamp): "free" | "doubtful" | "held" {
  if (!state?.holder) return "free";
  return millis(now) - millis(state.since) > takeoverAfterMs ? "doubtful" : "held";
}
