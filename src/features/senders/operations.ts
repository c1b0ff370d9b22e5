import type { Inputs } from "../../../schemas/api.ts";
import asOf from "../../../schemas/requests/as-of.json" with { type: "json" };
import createSender from "../../../schemas/requests/create-sender.json" with { type: "json" };
import listSenders from "../../../schemas/requests/list-senders.json" with { type: "json" };
import previewMapping from "../../../schemas/requests/preview-mapping.json" with { type: "json" };
import testMapping from "../../../schemas/requests/test-mapping.json" with { type: "json" };
import tryMapping from "../../../schemas/requests/try-mapping.json" with { type: "json" };
import updateSender from "../../../schemas/requests/update-sender.json" with { type: "json" };
import { examples } from "../../kernel/domain/examples.ts";
import { access } from "../../kernel/operations/access.ts";
import { payloadReader } from "../../kernel/operations/body-reader.ts";
import { asOfWords, facts, json, nothing, page, problem } from "../../kernel/operations/description.ts";
import { changeOf } from "../../kernel/operations/extended.ts";
import { pathId, signedIn, type Operation } from "../../kernel/operations/operation.ts";
import { sender, senderFact, token } from "../examples.ts";
import { typesOf } from "../facts.ts";
import { historyLists, historyRequest } from "../history.ts";
import type { Services } from "../services.ts";

const changedSender = changeOf(createSender, updateSender);
const read = access("Viewer", "senders:read");
const readHistory = access("Viewer", "audit:read");
const write = access("Developer", "senders:write");
const id = "The sender's id.";
const tag = "Senders";
const ingestToken = `sndr_${token}`;
const othersSender = "the sender belongs to another tenant";
const othersDestination = "the destination belongs to another tenant";
const noDestination = "destinationUrlId: destination not found";
const badExpression = "mapping.expression: is not a JMESPath expression: Syntax error: unknown character: #";
const { name, destinationUrlId, mapping } = sender;
const bounds =
  "An expression has at most 4,096 characters, and 15 ms of processor time to yield an object of at most the size a " +
  "body may have, nested at most 128 deep.";

/** Senders of the caller's tenant. */
export function senderOperations({ commands, queries }: Services): Operation[] {
  return [
    signedIn({
      id: "createSender",
      route: "POST /api/v1/senders",
      access: write,
      tag,
      summary: "Create a sender",
      description: `${bounds} Without a mapping the payload is delivered unchanged.`,
      body: createSender,
      examples: { "with a mapping": { name, destinationUrlId, mapping }, unchanged: { name, destinationUrlId } },
      answers: {
        201: json("created-sender", "The sender and its ingest token, shown here only.", { ...sender, ingestToken }),
        400: problem("A field is not as it must be, or the expression does not compile.", badExpression),
        403: problem(
          "The caller is a Viewer, or the destination belongs to another tenant.",
          "only Developer or above may create senders", othersDestination,
        ),
        404: problem("No such destination.", noDestination),
      },
    }, async ({ caller, input, origin }) => ({
      status: 201,
      body: await commands.senders.create(caller, input, origin),
    })),
    signedIn({
      id: "listSenders",
      route: "GET /api/v1/senders",
      access: read,
      tag,
      summary: "List senders",
      list: listSenders,
      answers: { 200: page("sender", "A page of senders.", sender) },
    }, async ({ caller, input: { page } }) => ({
      status: 200,
      body: await queries.senders.list(caller, page),
    })),
    signedIn({
      id: "getSender",
      route: "GET /api/v1/senders/:id",
      access: read,
      tag,
      summary: "Get a sender",
      description: asOfWords,
      parameters: { id },
      query: asOf,
      answers: {
        200: json("sender", "The sender.", sender),
        403: problem("The sender belongs to another tenant.", othersSender),
      },
    }, async (call) => ({
      status: 200,
      body: await queries.senders.get(call.caller, pathId(call), call.input.AsOf),
    })),
    signedIn({
      id: "listSenderHistory",
      route: "GET /api/v1/senders/:id/history",
      access: readHistory,
      isLarge: true,
      tag,
      summary: "List a sender's history",
      description:
        "Each change of its name, destination, mapping and status: what it became, by whom and when. The " +
        "`senderRevision` of an accepted event is the `revision` of the newest fact it was accepted under. Of the " +
        "ingest token only that it was replaced is shown. Stays readable when the sender is deleted.\n\n" +
        typesOf("sender"),
      parameters: { id },
      list: historyLists.sender,
      answers: {
        200: facts(senderFact),
        403: problem("The sender belongs to another tenant.", othersSender),
      },
    }, async (call) => ({
      status: 200,
      body: await queries.senders.history(call.caller, pathId(call), historyRequest(call.input)),
    })),
    signedIn({
      id: "updateSender",
      route: "PATCH /api/v1/senders/:id",
      access: write,
      tag,
      summary: "Change a sender",
      description:
        `Absent fields stay unchanged; a mapping of null is removed. ${bounds} While a sender is ` +
        "Inactive, ingest through it gives 422.",
      parameters: { id },
      body: changedSender,
      examples: {
        "map in another way": { mapping: { language: "jmespath", expression: "{order: data.id}" } },
        "deliver unchanged": { mapping: null },
        "switch off": { status: "inactive" },
      },
      answers: {
        200: json("sender", "The sender as it is now.", { ...sender, status: "Inactive" }),
        400: problem("A field is not as it must be, or the expression does not compile.", badExpression),
        403: problem(
          "The caller is a Viewer, or the sender or the destination belongs to another tenant.",
          "only Developer or above may change senders", othersSender, othersDestination,
        ),
        404: problem("No such sender or destination.", "sender not found", noDestination),
      },
    }, async (call) => ({
      status: 200,
      body: await commands.senders.change(call.caller, pathId(call), call.input, call.origin),
    })),
    signedIn({
      id: "deleteSender",
      route: "DELETE /api/v1/senders/:id",
      access: write,
      tag,
      summary: "Delete a sender",
      description: "Its events and its history stay; its ingest token then gives 404.",
      parameters: { id },
      answers: {
        204: nothing("Deleted."),
        403: problem(
          "The caller is a Viewer, or the sender belongs to another tenant.",
          "only Developer or above may delete senders", othersSender,
        ),
      },
    }, async (call) => {
      await commands.senders.remove(call.caller, pathId(call), call.origin);
      return { status: 204 };
    }),
    signedIn({
      id: "regenerateSenderToken",
      route: "POST /api/v1/senders/:id/ingest-token",
      access: write,
      tag,
      summary: "Replace the ingest token",
      description: "The old token stops working at once.",
      parameters: { id },
      answers: {
        200: json("sender-ingest-token", "The new token, shown here only.", { ingestToken }),
        403: problem(
          "The caller is a Viewer, or the sender belongs to another tenant.",
          "only Developer or above may regenerate ingest tokens", othersSender,
        ),
      },
    }, async (call) => {
      const ingestToken = await commands.senders.regenerateToken(call.caller, pathId(call), call.origin);
      return { status: 200, body: { ingestToken } };
    }),
    signedIn({
      id: "testMapping",
      route: "POST /api/v1/senders/:id/test-mapping",
      access: read,
      tag,
      summary: "Test the mapping",
      description: "Nothing is stored and nothing is delivered.",
      parameters: { id },
      body: payloadReader<Inputs["testMapping"]>(testMapping),
      examples: {
        object: { payload: { data: { id: 4711, lines: [{ price: 19.9 }] } } },
        text: { payload: '{"data":{"id":4711,"lines":[{"price":19.90}]}}' },
      },
      answers: {
        200: json("mapping-result", "What would be delivered.", { result: { order: 4711, total: 19.9 } }),
        400: problem(
          "The payload is not a JSON object, or the mapping yields none within its bounds.",
          "payload: must be a JSON object", "payload: the mapping yields an array, not an object",
        ),
        403: problem("The sender belongs to another tenant.", othersSender),
      },
    }, async (call) => {
      const result = await queries.senders.testMapping(call.caller, pathId(call), call.input.payload);
      // The very text that would be delivered: parsed once more, it would lose digits.
      return { status: 200, type: "application/json; charset=utf-8", text: `{"result":${result}}` };
    }),
    signedIn({
      id: "tryMapping",
      route: "POST /api/v1/mappings/test",
      access: read,
      tag,
      summary: "Test a mapping that no sender has",
      description: `Nothing is stored and nothing is delivered. ${bounds}`,
      body: payloadReader<Inputs["tryMapping"]>(tryMapping),
      examples: {
        object: { mapping, payload: { data: { id: 4711, lines: [{ price: 19.9 }] } } },
        text: { mapping, payload: '{"data":{"id":4711,"lines":[{"price":19.90}]}}' },
      },
      answers: {
        200: json("mapped-payload", "What would be delivered.", {
          result: { order: 4711, total: 19.9 },
          text: '{"order":4711,"total":19.9}',
        }),
        400: problem(
          "The expression does not compile, the payload is not a JSON object, or the mapping yields none within its " +
          "bounds.",
          badExpression, "payload: must be a JSON object", "payload: the mapping yields an array, not an object",
        ),
      },
    }, async ({ caller, input }) => {
      const result = await queries.senders.tryMapping(caller, input.mapping, input.payload);
      const text = `{"result":${result},"text":${JSON.stringify(result)}}`;
      return { status: 200, type: "application/json; charset=utf-8", text };
    }),
    signedIn({
      id: "previewMapping",
      route: "POST /api/v1/mappings/preview",
      access: access("Viewer", "events:read"),
      isLarge: true,
      tag,
      summary: "Try a mapping on a sender's newest events",
      description:
        "What the mapping would make of the bodies that the sender received last, compared as JSON with the payloads " +
        "that the events have. It ends after five seconds. Nothing is stored and nothing is delivered. The answer " +
        `shows payloads: a service key needs \`events:read\`. ${bounds}`,
      body: previewMapping,
      examples: { "the newest 100": { senderId: sender.id, mapping, last: 100 } },
      answers: {
        200: json("mapping-preview", "How the results differ.", {
          tried: 100, same: 97,
          differ: [{
            eventId: examples.eventId, before: '{"order":4711,"total":19.9}', after: '{"order":4711,"total":39.8}',
          }],
          failed: [{
            eventId: "019c167f-c818-87c8-8ca8-64b1d472e0eb", error: "the mapping yields null, not an object",
          }],
        }),
        400: problem("A field is not as it must be, or the expression does not compile.", badExpression),
        403: problem("The sender belongs to another tenant.", othersSender),
        404: problem("No such sender.", "sender not found"),
      },
    }, async ({ caller, input }) => ({
      status: 200,
      body: await queries.mappingPreview.preview(caller, input),
    })),
  ];
}
