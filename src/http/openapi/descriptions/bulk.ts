import { json, nothing, problem, type Descriptions } from "../description.ts";
import { destination } from "../examples.ts";

const tag = "Events";
const ofDestination = { destinationUrlId: destination.id };

/** Operations on many events of the caller's tenant at once. */
export const bulkDescriptions: Descriptions = {
  "POST /api/v1/events/replay": {
    id: "replayEvents",
    tag,
    summary: "Replay many events",
    description:
      "Developer or above. Puts events in CriticalFailure back to work, those of one destination or of a stretch of " +
      "time if asked to; `from` and `to` are ISO 8601 dates or date-times of acceptance, both inclusive. It answers " +
      "when all is done, so for very many events give your client time; if it broke off, ask again and it goes on " +
      "where it was. `matched` includes events of deleted destinations and those with 1,000 attempts or more, though " +
      "they cannot be replayed. So `replayed` is less if there are any or another request was first, more if others " +
      "were given up meanwhile; it is 0 for a dry run. Who replayed which events, and how many, stays in the " +
      "tenant's history of replays. Unknown fields are ignored: with a misspelt filter (`DestinationUrlId`) all that " +
      "was given up is replayed.",
    examples: {
      all: {},
      "a day of one destination": {
        ...ofDestination, from: "2026-01-14T00:00:00.000Z", to: "2026-01-14T23:59:59.999Z",
      },
      "only count": { dryRun: true },
    },
    answers: {
      200: json("bulk-replay", "How many matched, and how many were replayed.", { matched: 42, replayed: 42 }),
      403: problem("The caller is a Viewer.", "only Developer or above may replay events"),
    },
  },
  "POST /api/v1/events/purge": {
    id: "purgeEvents",
    tag,
    summary: "Purge finished events",
    description:
      "Admin or Owner. Forgets finished events (Succeeded, CriticalFailure or Cancelled), with all that is known of " +
      "them: from the answer on they are not shown any more, and are deleted from storage in the background. " +
      "There is no way back, and no dry run: look at the `total` of the list first. `before` is an ISO 8601 date or " +
      "date-time: only what was accepted earlier is purged. Unknown fields are ignored: with a misspelt filter " +
      "(`Before`) everything that is finished is purged. Who purged which events, when, and how many, stays in the " +
      "tenant's history of purges. Idempotency keys of purged events are free again.",
    examples: {
      all: {},
      old: { before: "2026-01-01T00:00:00.000Z" },
      "delivered to one destination": { ...ofDestination, status: "Succeeded" },
    },
    answers: {
      204: nothing("The events are not shown any more."),
      403: problem("The caller is neither Admin nor Owner.", "only Admin or above may purge events"),
    },
  },
};
