import type { Inputs } from "../../../schemas/api.ts";
import asOf from "../../../schemas/requests/as-of.json" with { type: "json" };
import createSubscription from "../../../schemas/requests/create-subscription.json" with { type: "json" };
import listSubscriptions from "../../../schemas/requests/list-subscriptions.json" with { type: "json" };
import testSubscriptions from "../../../schemas/requests/test-subscriptions.json" with { type: "json" };
import updateSubscription from "../../../schemas/requests/update-subscription.json" with { type: "json" };
import { access, withPortal } from "../../kernel/operations/access.ts";
import { payloadReader } from "../../kernel/operations/body-reader.ts";
import {
  asOfWords, facts, json, nothing, page, problem, unnamedDestination,
} from "../../kernel/operations/description.ts";
import { changeOf } from "../../kernel/operations/extended.ts";
import { pathId, signedIn, type Operation } from "../../kernel/operations/operation.ts";
import { subscription, subscriptionFact } from "../examples.ts";
import { typesOf } from "../facts.ts";
import { historyLists, historyRequest } from "../history.ts";
import type { Services } from "../services.ts";
import { mostSubscriptions } from "./decide.ts";
import { mostCharacters, mostConditions, mostDepth, mostValues } from "./filter.ts";

const changedSubscription = changeOf(createSubscription, updateSubscription);
const test = access("Viewer", "senders:read");
const read = withPortal(test, "read");
const readHistory = withPortal(access("Viewer", "audit:read"), "read");
const write = withPortal(access("Developer", "senders:write"), "configure");
const id = "The subscription's id.";
const tag = "Subscriptions";
const { senderId, destinationUrlId, ownerId, eventTypes, filter } = subscription;
const othersSubscription = "the subscription belongs to another tenant";
const noSubscription = "subscription not found";
const noFanOut = "the sender does not fan out";
const badFilter = "filter.data.amount.$gte: must be a string or a number";
const filters =
  "A filter is an object of conditions, which must all hold. A name leads to a field of `{type, ownerId, tags, " +
  "data}` or of an object in it. `type`, `ownerId` and `tags` are missing where the message has none; `data` is what " +
  "the sender's mapping makes. A literal is `$eq`. `$eq` and `$neq` take a string, a number, a boolean or null; " +
  `\`$in\` and \`$nin\` lists of up to ${mostValues} of these; ` +
  "`$gt`, `$gte`, `$lt` and `$lte` a number or a string, for values of the same type, strings by UTF-16 units; " +
  "`$startsWith` and `$endsWith` a string; `$exist` true or false; `$and` and `$or` lists of conditions; `$not` a " +
  "condition. Nothing is coerced. A missing field satisfies `$neq`, `$nin` and `$exist: false`, and no other " +
  `operator. Numbers are doubles. A filter has up to ${mostConditions} conditions, objects up to ${mostDepth} deep, ` +
  `and ${mostCharacters} characters.`;

/** Subscriptions to the senders of the caller's tenant that fan out. */
export function subscriptionOperations({ commands, queries }: Services): Operation[] {
  return [
    signedIn({
      id: "createSubscription",
      route: "POST /api/v1/subscriptions",
      access: write,
      tag,
      summary: "Subscribe a destination to a sender",
      description:
        "The sender's messages that match are delivered to the destination. A message reaches a destination once: " +
        `the owner's subscription comes before one without an owner.\n\n${filters}`,
      body: createSubscription,
      examples: {
        "of an owner": { senderId, destinationUrlId, ownerId, eventTypes, filter },
        "all messages": { senderId, destinationUrlId },
      },
      answers: {
        201: json("subscription", "The subscription.", subscription),
        400: problem(
          "A field is not as it must be, or the expression of the mapping does not compile.", badFilter,
          "eventTypes.0: must be an event type, as invoice.paid, or a family of types, as invoice.*",
        ),
        403: problem(
          "The caller is a Viewer, or the sender or the destination belongs to another tenant.",
          "only Developer or above may create subscriptions", "the sender belongs to another tenant",
          "the destination belongs to another tenant",
        ),
        404: problem(
          "No such sender or destination.", "senderId: sender not found", "destinationUrlId: destination not found",
        ),
        409: problem(
          "The destination has a subscription to this sender for the same owner, or without an owner.",
          "the destination has a subscription to this sender for this owner",
        ),
        422: problem(
          "The sender does not fan out, or has the most subscriptions of this owner, or without an owner.", noFanOut,
          `the sender has ${mostSubscriptions} subscriptions of this owner, which is the most; delete one`,
        ),
      },
    }, async ({ caller, input, origin }) => ({
      status: 201,
      body: await commands.subscriptions.create(caller, input, origin),
    })),
    signedIn({
      id: "listSubscriptions",
      route: "GET /api/v1/subscriptions",
      access: read,
      tag,
      summary: "List subscriptions",
      list: listSubscriptions,
      answers: { 200: page("subscription", "A page of subscriptions.", subscription), 404: unnamedDestination },
    }, async ({ caller, input: { page, filters: { SenderId, DestinationUrlId, OwnerId } } }) => ({
      status: 200,
      body: await queries.subscriptions.list(caller, {
        senderId: SenderId?.toLowerCase(), destinationUrlId: DestinationUrlId?.toLowerCase(), ownerId: OwnerId,
      }, page),
    })),
    signedIn({
      id: "testSubscriptions",
      route: "POST /api/v1/subscriptions/test",
      access: test,
      isLarge: true,
      tag,
      summary: "Tell which subscriptions would get a message",
      description:
        "Nothing is stored and nothing is delivered. Routing looks at subscriptions, not at destinations: deliveries " +
        "to an Inactive or Suspended one would be held.",
      body: payloadReader<Inputs["testSubscriptions"]>(testSubscriptions),
      examples: {
        "of an owner": { senderId, ownerId, eventType: "invoice.paid", payload: { amount: 120 } },
        text: { senderId, payload: '{"amount":120.00}' },
      },
      answers: {
        200: json("routing", "The deliveries that it would have.", {
          matched: [{ subscriptionId: subscription.id, destinationUrlId, payload: { amount: 120 }, problem: null }],
          skipped: [{ subscriptionId: "0198f2a1-6c3e-7b54-9d0f-2a8b6c4d1e41", reason: "event type" }],
        }),
        400: problem(
          "A field is not as it must be, or the sender's mapping yields no object.",
          "payload: must be a JSON object", "payload: the sender's mapping yields an array, not an object",
        ),
        403: problem("The sender belongs to another tenant.", "the sender belongs to another tenant"),
        404: problem("No such sender.", "sender not found"),
        422: problem("The sender does not fan out.", noFanOut),
      },
    }, async ({ caller, input }) => ({
      status: 200,
      type: "application/json; charset=utf-8",
      stream: await queries.routingTrial.route(caller, input),
    })),
    signedIn({
      id: "getSubscription",
      route: "GET /api/v1/subscriptions/:id",
      access: read,
      tag,
      summary: "Get a subscription",
      description: asOfWords,
      parameters: { id },
      query: asOf,
      answers: {
        200: json("subscription", "The subscription.", subscription),
        403: problem("The subscription belongs to another tenant.", othersSubscription),
      },
    }, async (call) => ({
      status: 200,
      body: await queries.subscriptions.get(call.caller, pathId(call), call.input.AsOf),
    })),
    signedIn({
      id: "listSubscriptionHistory",
      route: "GET /api/v1/subscriptions/:id/history",
      access: readHistory,
      isLarge: true,
      tag,
      summary: "List a subscription's history",
      description:
        "Each change of its event types, filter, mapping and status: what it became, by whom and when. `revision` " +
        "counts the facts of all subscriptions of its owner to its sender. Stays readable when the subscription is " +
        `deleted.\n\n${typesOf("subscriptions")}`,
      parameters: { id },
      list: historyLists.subscriptions,
      answers: {
        200: facts(subscriptionFact),
        403: problem("The subscription belongs to another tenant.", othersSubscription),
      },
    }, async (call) => ({
      status: 200,
      body: await queries.subscriptions.history(call.caller, pathId(call), historyRequest(call.input)),
    })),
    signedIn({
      id: "updateSubscription",
      route: "PATCH /api/v1/subscriptions/:id",
      access: write,
      tag,
      summary: "Change a subscription",
      description:
        `Absent fields stay unchanged; null removes. Sender, destination and owner never change.\n\n${filters}`,
      parameters: { id },
      body: changedSubscription,
      examples: {
        "other types": { eventTypes: ["invoice.*"] },
        "all messages": { eventTypes: null, filter: null },
        "switch off": { status: "inactive" },
      },
      answers: {
        200: json("subscription", "The subscription as it is now.", { ...subscription, status: "Inactive" }),
        400: problem("A field is not as it must be, or the expression of the mapping does not compile.", badFilter),
        403: problem(
          "The caller is a Viewer, or the subscription belongs to another tenant.",
          "only Developer or above may change subscriptions", othersSubscription,
        ),
        404: problem("No such subscription.", noSubscription),
      },
    }, async (call) => ({
      status: 200,
      body: await commands.subscriptions.change(call.caller, pathId(call), call.input, call.origin),
    })),
    signedIn({
      id: "deleteSubscription",
      route: "DELETE /api/v1/subscriptions/:id",
      access: write,
      tag,
      summary: "Delete a subscription",
      description: "Deliveries of messages that were accepted before go on.",
      parameters: { id },
      answers: {
        204: nothing("Deleted."),
        403: problem(
          "The caller is a Viewer, or the subscription belongs to another tenant.",
          "only Developer or above may delete subscriptions", othersSubscription,
        ),
      },
    }, async (call) => {
      await commands.subscriptions.remove(call.caller, pathId(call), call.origin);
      return { status: 204 };
    }),
  ];
}
