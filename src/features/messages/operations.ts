import listMessages from "../../../schemas/requests/list-messages.json" with { type: "json" };
import { parseOptionalDateTime } from "../../kernel/callers/input-rules.ts";
import { access } from "../../kernel/operations/access.ts";
import { json, page, problem } from "../../kernel/operations/description.ts";
import { pathId, signedIn, type Operation } from "../../kernel/operations/operation.ts";
import { message, messageSummary } from "../examples.ts";
import type { Services } from "../services.ts";

const read = access("Viewer", "events:read");
const tag = "Messages";

/** Messages that senders of the caller's tenant fanned out. */
export function messageOperations({ queries }: Services): Operation[] {
  return [
    signedIn({
      id: "listMessages",
      route: "GET /api/v1/messages",
      access: read,
      isLarge: true,
      tag,
      summary: "List messages",
      description:
        "A message is what a producer posts once through a sender that fans out. Each of its `deliveries` is an " +
        "event, which `GET /events` lists. A purge takes a message with the last of its deliveries; one without any " +
        "is purged like an event that is Succeeded.",
      list: listMessages,
      answers: { 200: page("message-summary", "A page of messages.", messageSummary) },
    }, async ({ caller, input: { page, filters: given } }) => ({
      status: 200,
      page: await queries.messages.list(caller, {
        senderId: given.SenderId?.toLowerCase(), eventType: given.EventType, ownerId: given.OwnerId,
        from: parseOptionalDateTime("From", given.From), to: parseOptionalDateTime("To", given.To),
      }, page),
    })),
    signedIn({
      id: "getMessage",
      route: "GET /api/v1/messages/:id",
      access: read,
      isLarge: true,
      tag,
      summary: "Get a message",
      description:
        "With the routing as it was recorded: the subscriptions that got it, and those that did not, and why. " +
        "`GET /events/{id}` shows it, too, in the form of an event.",
      parameters: { id: "The message's id." },
      answers: {
        200: json("message", "The message.", message),
        403: problem("The message belongs to another tenant.", "the message belongs to another tenant"),
      },
    }, async (call) => ({
      status: 200,
      body: await queries.messages.get(call.caller, pathId(call)),
    })),
  ];
}
