import cancelEvents from "../../../schemas/requests/cancel-events.json" with { type: "json" };
import purgeEvents from "../../../schemas/requests/purge-events.json" with { type: "json" };
import replayEvents from "../../../schemas/requests/replay-events.json" with { type: "json" };
import { access } from "../../kernel/operations/access.ts";
import { json, nothing, problem } from "../../kernel/operations/description.ts";
import { signedIn, type Operation } from "../../kernel/operations/operation.ts";
import { destination, event } from "../examples.ts";
import type { Services } from "../services.ts";

const replay = access("Developer", "events:write");
const cancel = access("Developer", "events:write");
const purge = access("Admin", "events:write");
const tag = "Events";
const filters = "The filters of the list of events narrow it, and all that you name must hold.";
const narrow =
  "Without a filter it takes all of them. An unknown field, a field given twice, `null` and a query parameter are " +
  "400, so that a misspelt filter never means all events.";
const ofDestination = { destinationUrlId: destination.id };

/** Operations on many events of the caller's tenant at once. */
export function bulkOperations({ commands }: Services): Operation[] {
  return [
    signedIn({
      id: "replayEvents",
      route: "POST /api/v1/events/replay",
      access: replay,
      tag,
      summary: "Replay many events",
      description:
        `Schedules events in CriticalFailure again. ${filters} ` +
        "`from` and `to` are ISO 8601 dates or date-times of acceptance, both inclusive. The answer comes when all " +
        "is done: use a long client timeout for many events. If the connection breaks, repeat the request; it " +
        `continues with the rest. ${narrow}\n\n` +
        "`matched` includes events of deleted destinations and events with 1,000 attempts or more, which cannot be " +
        "replayed. `replayed` is smaller than `matched` if there are such events, or if another request replayed " +
        "some of them first. It is larger if more events failed for good during the replay. For a dry run it is 0. " +
        "The tenant's history of replays shows who replayed which events, and how many.",
      body: replayEvents,
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
    }, async ({ caller, input, origin }) => ({
      status: 200,
      body: await commands.bulkReplay.replay(caller, input, origin),
    })),
    signedIn({
      id: "cancelEvents",
      route: "POST /api/v1/events/cancel",
      access: cancel,
      tag,
      summary: "Cancel many events",
      description:
        "Cancels events in Pending and WaitingRetry, for good: by the filters of the list of events, their status, " +
        "and their ids (up to 1,000), if you name them; all that you name must hold. `from` " +
        "and `to` are ISO 8601 dates or date-times of acceptance, both inclusive. Ids of no event, of events in " +
        "another status, and of other tenants' are no match. Test events are passed over. The answer comes when all " +
        "is done: use a long client timeout for many events. If the connection breaks, repeat the request; it " +
        `continues with the rest. ${narrow}\n\n` +
        "`cancelled` is smaller than `matched` if attempts of some of them began first, or another request cancelled " +
        "them. It is larger if more events came to match meanwhile. The tenant's history of cancellations shows who " +
        "cancelled which events, and how many.",
      body: cancelEvents,
      examples: {
        "of one destination": ofDestination,
        "some that wait for a retry": { ids: [event.id], status: "WaitingRetry" },
        "only count": { dryRun: true },
      },
      answers: {
        200: json(
          "bulk-cancellation", "How many matched, and unless in a dry run, how many were cancelled.",
          { matched: 42, cancelled: 42 },
        ),
        403: problem("The caller is a Viewer.", "only Developer or above may cancel events"),
      },
    }, async ({ caller, input, origin }) => ({
      status: 200,
      body: await commands.bulkCancel.cancel(caller, input, origin),
    })),
    signedIn({
      id: "purgeEvents",
      route: "POST /api/v1/events/purge",
      access: purge,
      tag,
      summary: "Purge finished events",
      description:
        "Deletes finished events (Succeeded, CriticalFailure or Cancelled) with their attempts and " +
        "histories. They are hidden at once and deleted from storage in the background. A purge cannot be undone. " +
        "A dry run (`dryRun`) changes nothing and tells how many events it would take. `before` is an ISO 8601 date " +
        `or date-time; events accepted earlier are purged. ${filters} ${narrow}\n\n` +
        "The tenant's history of purges shows who purged which events, when, and how many. The idempotency keys of " +
        "purged events can be used again.",
      body: purgeEvents,
      examples: {
        all: {},
        old: { before: "2026-01-01T00:00:00.000Z" },
        "delivered to one destination": { ...ofDestination, status: "Succeeded" },
        "only count": { dryRun: true },
      },
      answers: {
        200: json("match-count", "In a dry run: how many match.", { matched: 42 }),
        204: nothing("The events are not shown any more."),
        403: problem("The caller is neither Admin nor Owner.", "only Admin or above may purge events"),
      },
    }, async ({ caller, input, origin }) => {
      const matched = await commands.purge.purge(caller, input, origin);
      return input.dryRun ? { status: 200, body: { matched } } : { status: 204 };
    }),
  ];
}
