import { examples } from "../../kernel/domain/examples.ts";
import { at, fact, type EventsOf } from "../../kernel/domain/fact.ts";
import { integer, nullable, time, uuid, type ObjectOf } from "../../kernel/domain/schema.ts";

const filter = {
  destinationId: nullable(uuid(), "null: of every destination."),
  from: nullable(time(), "Accepted from this time; null: whenever."),
  to: nullable(time(), "Accepted up to this time; null: whenever."),
};
/** Which of a tenant's events in CriticalFailure are meant; times of acceptance, both inclusive, null for any. */
export type ReplayFilter = Readonly<ObjectOf<typeof filter>>;

const told = ["tenantId", "at"] as const;

/** Facts of a `replays-<tenantId>` stream: one for each replay request. Each event has its own EventReplayed. */
export const replaysFacts = {
  ReplayOrdered: fact({
    data: {
      replayId: uuid(), tenantId: uuid(), ...filter,
      matched: integer(0, "How many events the filter matched when it began."),
      at,
    },
    meaning: "A bulk replay began. Each event that it replays has an EventReplayed.",
    words: "ordered a replay of {matched:events}",
    shown: [...told, "replayId", "destinationId", "from", "to", "matched"],
    audit: "replay",
    example: {
      tenantId: examples.tenantId, replayId: "0198f2a1-6c3e-7b54-9d0f-2a8b6c4d1e0f",
      destinationId: examples.destinationId, from: null, to: null, matched: 42, at: examples.at,
    },
  }),
  ReplayCompleted: fact({
    data: {
      replayId: uuid(), tenantId: uuid(),
      replayed: integer(
        0,
        "How many were put back to work: less than matched where others were first or some cannot be, more where "
          + "others were given up meanwhile.",
      ),
      at,
    },
    meaning: "A bulk replay finished.",
    words: "completed a replay of {replayed:events}",
    shown: [...told, "replayId", "replayed"],
    audit: "replay",
  }),
};
export type ReplaysEvent = EventsOf<typeof replaysFacts>;
