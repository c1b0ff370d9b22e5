import streamQuery from "../../../schemas/requests/follow-stream.json" with { type: "json" };
import { isService, type Caller } from "../../application/caller.ts";
import { streamKinds, type StreamKind } from "../../application/live/frames.ts";
import type { Services } from "../../application/services.ts";
import { refuse } from "../../domain/refusal.ts";
import { access, barrier } from "../access.ts";
import { queryReader } from "../requests/query-parameters.ts";
import { signedInQuery, type Route } from "../route.ts";

interface StreamParameters {
  readonly Kinds?: string;
  readonly DestinationUrlId?: string;
  readonly OwnerId?: string;
  readonly Payload?: "true" | "false";
}

const read = access("Viewer", "events:read");
const readAudit = access("Viewer", "audit:read");
const query = queryReader<StreamParameters>(streamQuery);
/** For proxies that would gather an answer before they pass it on. */
const unbuffered = { "X-Accel-Buffering": "no" };

/** The log as it grows, as server-sent events. */
export function streamRoutes({ live }: Services): Route[] {
  return [
    signedInQuery(read, "/api/v1/stream", query, async (call) => {
      const { caller, headers, input } = call;
      const { Kinds, DestinationUrlId, OwnerId: ownerId, Payload } = input;
      const wanted = {
        kinds: kindsOf(caller, Kinds), destinationId: DestinationUrlId?.toLowerCase(), ownerId,
        payload: Payload === "true",
      };
      // Node joins headers of one name, unless it knows the name.
      const lastId = headers["last-event-id"] as string | undefined;
      const [id, ...credentialIds] = isService(caller)
        ? [caller.serviceAccountId, caller.keyId] as const
        : [caller.userId, caller.tokenId, caller.sessionId] as const;
      const { tenantId, expiresAt } = caller;
      const check = () => call.authenticate();
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
