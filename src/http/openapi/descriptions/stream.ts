import { problem, type Descriptions } from "../description.ts";
import { auditFact, circuitFact, event } from "../examples.ts";

const moved = {
  eventId: event.id, destinationUrlId: event.destinationUrlId, type: "DeliverySucceeded", from: "Processing",
  to: "Succeeded", at: event.deliveredAt, attempt: 1, statusCode: 204, reason: null, durationMs: 87, test: false,
};
const circuit = { ...circuitFact, subject: { type: "circuit", id: event.destinationUrlId } };

function frame(name: string, data: object, id?: string): string {
  return `event: ${name}\ndata: ${JSON.stringify(data)}\n${id === undefined ? "" : `id: ${id}\n`}\n`;
}

/** The log as it grows. */
export const streamDescriptions: Descriptions = {
  "GET /api/v1/stream": {
    id: "followStream",
    tag: "Events",
    summary: "Follow events, circuits and changes live",
    description:
      "Server-sent events that do not end by themselves: `moved` (a fact of an event), `circuit` (a fact " +
      "of a destination's circuit), `audit` (a fact of the audit), `lagged` (frames were left out), `gone` (the " +
      "stream cannot be resumed from so far back) and `end` (why the service ends the stream). Their fields are in " +
      "docs/api.md. The `id` of a frame is its place in the log; of several frames of one fact only the last has it. " +
      "A request with the last of them as `Last-Event-ID`, which browsers send by themselves, goes on right behind " +
      "it, if it is at most 100,000 entries of the log back. A comment comes every 15 seconds. The stream ends with " +
      "the caller's session. A filter that names another tenant's or no one's destination gives comments only.",
    answers: {
      200: {
        description: "Frames, as they come.",
        content: {
          "text/event-stream": {
            schema: { type: "string" },
            examples: {
              moved: { value: frame("moved", moved, "0000000000004711") },
              circuit: { value: frame("circuit", circuit, circuitFact.position) },
              audit: { value: frame("audit", auditFact, auditFact.position) },
              lagged: { value: frame("lagged", { dropped: 240, until: event.deliveredAt }, "0000000000004951") },
              gone: { value: frame("gone", { head: "0000000000204951" }, "0000000000204951") },
              end: { value: frame("end", { reason: "session over" }) },
            },
          },
        },
      },
      400: problem(
        "A parameter or `Last-Event-ID` is not valid.",
        "Kinds: must be one or more of event, circuit, audit, separated by commas",
        "Last-Event-ID: must be the id of a frame of this stream",
      ),
      429: problem(
        "The tenant has 100 streams. A caller's sixth stream ends its oldest, and one more than 1,000 in the process " +
        "ends one of the tenant that has most.",
        "the tenant has 100 streams already; close one",
      ),
    },
  },
};
