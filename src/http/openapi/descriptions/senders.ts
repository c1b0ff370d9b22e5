import { asOfWords, facts, json, nothing, page, problem, type Descriptions } from "../description.ts";
import { sender, senderFact, token } from "../examples.ts";
import { typesOf } from "../facts/fact-types.ts";

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
export const senderDescriptions: Descriptions = {
  "POST /api/v1/senders": {
    id: "createSender",
    tag,
    summary: "Create a sender",
    description: `${bounds} Without a mapping the payload is delivered unchanged.`,
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
  },
  "GET /api/v1/senders": {
    id: "listSenders",
    tag,
    summary: "List senders",
    answers: { 200: page("sender", "A page of senders.", sender) },
  },
  "GET /api/v1/senders/:id": {
    id: "getSender",
    tag,
    summary: "Get a sender",
    description: asOfWords,
    parameters: { id },
    answers: {
      200: json("sender", "The sender.", sender),
      403: problem("The sender belongs to another tenant.", othersSender),
    },
  },
  "GET /api/v1/senders/:id/history": {
    id: "listSenderHistory",
    tag,
    summary: "List a sender's history",
    description:
      "Each change of its name, destination, mapping and status: what it became, by whom and when. The " +
      "`senderRevision` of an accepted event is the `revision` of the newest fact it was accepted under. Of the " +
      "ingest token only that it was replaced is shown. Stays readable when the sender is deleted.\n\n" +
      typesOf("sender"),
    parameters: { id },
    answers: {
      200: facts(senderFact),
      403: problem("The sender belongs to another tenant.", othersSender),
    },
  },
  "PATCH /api/v1/senders/:id": {
    id: "updateSender",
    tag,
    summary: "Change a sender",
    description:
      `Absent fields stay unchanged; a mapping of null is removed. ${bounds} While a sender is ` +
      "Inactive, ingest through it gives 422.",
    parameters: { id },
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
  },
  "DELETE /api/v1/senders/:id": {
    id: "deleteSender",
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
  },
  "POST /api/v1/senders/:id/ingest-token": {
    id: "regenerateSenderToken",
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
  },
  "POST /api/v1/senders/:id/test-mapping": {
    id: "testMapping",
    tag,
    summary: "Test the mapping",
    description: "Nothing is stored and nothing is delivered.",
    parameters: { id },
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
  },
  "POST /api/v1/mappings/test": {
    id: "tryMapping",
    tag,
    summary: "Test a mapping that no sender has",
    description: `Nothing is stored and nothing is delivered. ${bounds}`,
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
  },
};
