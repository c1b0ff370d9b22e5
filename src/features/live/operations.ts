import followStream from "../../../schemas/requests/follow-stream.json" with { type: "json" };
import { withinAudience } from "../../kernel/callers/access.ts";
import { callerIdOf, credentialIdsOf, type Caller } from "../../kernel/callers/caller.ts";
import { refuse } from "../../kernel/domain/refusal.ts";
import { access, barrier, withPortal } from "../../kernel/operations/access.ts";
import { problem, unnamedDestination } from "../../kernel/operations/description.ts";
import { signedIn, type Operation } from "../../kernel/operations/operation.ts";
import { auditFact, circuitFact, event, successType } from "../examples.ts";
import type { Services } from "../services.ts";
import { streamKinds, type StreamKind } from "./frames.ts";

const read = withPortal(access("Viewer", "events:read"), "read");
const readAudit = access("Viewer", "audit:read");
/** For proxies that would gather an answer before they pass it on. */
const unbuffered = { "X-Accel-Buffering": "no" };

const moved = {
  eventId: event.id, destinationUrlId: event.destinationUrlId, type: successType, from: "Processing",
  to: "Succeeded", at: event.deliveredAt, attempt: 1, statusCode: 204, reason: null, durationMs: 87, test: false,
  eventType: event.eventType, ownerId: event.ownerId, senderId: event.senderId,
};
const circuit = {
  ...circuitFact, subject: { type: "circuit", id: event.destinationUrlId }, destinationUrlId: event.destinationUrlId,
};

function frame(name: string, data: object, id?: string): string {
  return `event: ${name}\ndata: ${JSON.stringify(data)}\n${id === undefined ? "" : `id: ${id}\n`}\n`;
}

/** The log as it grows, as server-sent events. */
export function streamOperations({ live }: Services): Operation[] {
  return [
    signedIn({
      id: "followStream",
      route: "GET /api/v1/stream",
      access: read,
      isLarge: true,
      tag: "Events",
      summary: "Follow events, circuits and changes live",
      description:
        "Server-sent events that do not end by themselves: `moved` (a fact of an event), `circuit` (a fact " +
        "of a destination's circuit), `audit` (a fact of the audit), `lagged` (frames were left out), `gone` (the " +
        "stream cannot be resumed from so far back) and `end` (why the service ends the stream). Their fields are in " +
        "docs/api.md. The `id` of a frame is its place in the log; of several frames of one fact only the last has " +
        "it. A request with the last of them as `Last-Event-ID`, which browsers send by themselves, goes on right " +
        "behind it, if it is at most 100,000 entries of the log back. A comment comes every 15 seconds. The stream " +
        "ends with the caller's session. A filter that names another tenant's or no one's destination gives comments " +
        "only.",
      query: followStream,
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
        404: unnamedDestination,
        429: problem(
          "The tenant has 100 streams. A caller's sixth stream ends its oldest, and one more than 1,000 in the " +
          "process ends one of the tenant that has most.",
          "the tenant has 100 streams already; close one",
        ),
      },
    }, async (call) => {
      const { caller, headers, input } = call;
      const { Kinds, DestinationUrlId, OwnerId: ownerId, Payload } = input;
      const { destinationUrlId: destinationId, destinationUrlIds: destinationIds } =
        withinAudience(caller, { destinationUrlId: DestinationUrlId?.toLowerCase() });
      const wanted = {
        kinds: kindsOf(caller, Kinds), destinationId, destinationIds, ownerId,
        payload: Payload === "true",
      };
      // Node joins headers of one name, unless it knows the name.
      const lastId = headers["last-event-id"] as string | undefined;
      const { tenantId, expiresAt } = caller;
      const check = () => call.authenticate();
      const [id, credentialIds] = [callerIdOf(caller), credentialIdsOf(caller)];
      const connection = { tenantId, id, credentialIds, expiresAt, check, gone: call.gone() };
      const stream = await live.open(connection, wanted, lastId);
      return { status: 200, type: "text/event-stream", headers: unbuffered, stream };
    }),
  ];
}

/** Facts of the audit are for callers that may read it. Throws a Refusal (invalid; forbidden to others who name it). */
function kindsOf(caller: Caller, text: string | undefined): readonly StreamKind[] {
  const barred = barrier(caller, readAudit);
  if (text === undefined) return streamKinds.filter((kind) => barred === undefined || kind !== "audit");
  const kinds = text.split(",").map((name) => streamKinds.find((kind) => kind === name) ??
    refuse("invalid", `Kinds: must be one or more of ${streamKinds.join(", ")}, separated by commas`));
  if (barred !== undefined && kinds.includes("audit")) refuse("forbidden", barred);
  return kinds;
}
