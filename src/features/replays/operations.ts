import listReplays from "../../../schemas/requests/list-replays.json" with { type: "json" };
import orderReplay from "../../../schemas/requests/order-replay.json" with { type: "json" };
import { access } from "../../kernel/operations/access.ts";
import { json, page, problem } from "../../kernel/operations/description.ts";
import { pathId, signedIn, type Operation } from "../../kernel/operations/operation.ts";
import { destination, replay } from "../examples.ts";
import type { Services } from "../services.ts";

const read = access("Viewer", "events:read");
const write = access("Developer", "events:write");
const tag = "Replays";
const id = "The replay's id.";
const othersReplay = "the replay belongs to another tenant";

/** Replays of the caller's tenant, which run in the background. */
export function replayOperations({ commands, queries }: Services): Operation[] {
  return [
    signedIn({
      id: "orderReplay",
      route: "POST /api/v1/replays",
      access: write,
      tag,
      summary: "Order a replay",
      description:
        "Sends finished events again, in the background. The replay takes the events that match " +
        "now: those that finish later are not among them, and those that change before their turn are passed over. " +
        "Without a filter it takes all events in CriticalFailure. `from` and `to` are ISO 8601 dates or date-times " +
        "of acceptance, both inclusive. A filter that names another tenant's destination or event, or none, matches " +
        "nothing.\n\n" +
        "Without `toDestinationUrlId` the events themselves are put back to work, with their `webhook-id` and the " +
        "next attempt numbers. With it, each becomes a new event of that destination, with the same payload, an id " +
        "of its own, and the id of the event it came from as `sourceEventId`; it has no idempotency key. Events of " +
        "that destination are passed over, and so are copies, made by replays, of events that are still there.\n\n" +
        "Events go in the order of their acceptance, `perSecond` at most. The replay waits while twice as many " +
        "events of the destination as its `serverRateLimit` are to be sent, are being sent, or have a retry that is " +
        "due within a minute, whoever caused them. So it makes way for live events, and stands still while a " +
        "destination is Inactive or Suspended. Passed over are also events that were purged, events of a deleted " +
        "destination, and events with 1,000 attempts or more. A tenant can have 100 replays that run: one more " +
        "gives 503. A replay goes on after a restart of the relay, and puts each event to work once. An unknown " +
        "field, a field given twice, `null` and a query parameter are 400, so that a misspelt filter never means " +
        "all events.",
      body: orderReplay,
      examples: {
        all: {},
        "a day of one destination": {
          destinationUrlId: destination.id, from: "2026-01-14T00:00:00.000Z", to: "2026-01-14T23:59:59.999Z",
        },
        "to another destination": {
          status: ["Succeeded", "CriticalFailure"], toDestinationUrlId: replay.toDestinationUrlId, perSecond: 200,
        },
        "only count": { dryRun: true },
      },
      answers: {
        200: json("match-count", "How many events match. Of a dry run.", { matched: 42 }),
        202: json("replay", "The replay, which is recorded and begins soon.", {
          ...replay, done: 0, skipped: 0, outcome: { delivered: 0, waiting: 0, exhausted: 0, cancelled: 0 },
        }),
        403: problem(
          "The caller is a Viewer, or `toDestinationUrlId` is another tenant's destination.",
          "only Developer or above may replay events", "the destination belongs to another tenant",
        ),
        404: problem("`toDestinationUrlId` names no destination, or a deleted one.", "destination not found"),
      },
    }, async ({ caller, input, origin }) => {
      const result = await commands.replays.order(caller, input, origin);
      return "counted" in result ? { status: 200, body: result.counted } : { status: 202, body: result.ordered };
    }),
    signedIn({
      id: "listReplays",
      route: "GET /api/v1/replays",
      access: read,
      tag,
      summary: "List replays",
      description: "All replays that were ordered by `POST /api/v1/replays`, over or not.",
      list: listReplays,
      answers: { 200: page("replay", "A page of replays.", replay) },
    }, async ({ caller, input: { page } }) => ({
      status: 200,
      body: await queries.replays.list(caller, page),
    })),
    signedIn({
      id: "getReplay",
      route: "GET /api/v1/replays/:id",
      access: read,
      tag,
      summary: "Get a replay",
      description:
        "`done` and `skipped` are recorded every few seconds. In the end they are together `matched`, " +
        "also of a replay that was cancelled: events that it did not come to are skipped. `outcome` tells what has " +
        "become of the events that it sent, whoever sent them again since; `GET /events?ReplayId=` lists them.",
      parameters: { id },
      answers: {
        200: json("replay", "The replay.", replay),
        403: problem("The replay belongs to another tenant.", othersReplay),
      },
    }, async (call) => ({
      status: 200,
      body: await queries.replays.get(call.caller, pathId(call)),
    })),
    signedIn({
      id: "cancelReplay",
      route: "POST /api/v1/replays/:id/cancel",
      access: write,
      tag,
      summary: "Cancel a replay",
      description:
        "Only while it is Running. It puts no more events to work; those that it did are " +
        "delivered. A moment later `done` and `skipped` have their last values, and `finishedAt` is set.",
      parameters: { id },
      answers: {
        200: json(
          "replay", "The replay, cancelled.",
          { ...replay, state: "Cancelled", finishedAt: "2026-02-01T00:00:10.000Z" }),
        400: problem("The replay is over.", "the replay is Finished; only a Running one can be cancelled"),
        403: problem(
          "The caller is a Viewer, or the replay belongs to another tenant.",
          "only Developer or above may cancel replays", othersReplay,
        ),
      },
    }, async (call) => ({
      status: 200,
      body: await commands.replays.cancel(call.caller, pathId(call), call.origin),
    })),
  ];
}
