import shared from "@eventstore/db-client/generated/shared_pb.js";
import type statusPb from "@eventstore/db-client/generated/status_pb.js";
import type streams from "@eventstore/db-client/generated/streams_pb.js";
import { EntryTooLarge, LogUnavailable, UnacceptableEntry, type Appended } from "../../kernel/ports/event-store.ts";
import { positionOf } from "./positions.ts";

/** The result of an append. */
export type AppendOutcome =
  | { readonly kind: "appended"; readonly appended: Appended }
  | { readonly kind: "conflict" }
  /** The stream was deleted for good. */
  | { readonly kind: "closed" }
  | { readonly kind: "refused"; readonly error: Error };

const finalErrors = new Set([
  "WrongExpectedVersion", "StreamDeleted", "MaximumAppendSizeExceeded", "BadRequest", "AccessDenied",
]);

/** After other errors (timeouts, elections, a busy server), an earlier sending may have been committed. */
export function isFinal(reply: streams.BatchAppendResp): boolean {
  const error = reply.getError();
  return !error || finalErrors.has(nameOf(error) ?? "");
}

/** Reads a final reply. Its details name the error; the codes say less. */
export function outcomeOf(reply: streams.BatchAppendResp): AppendOutcome {
  const success = reply.getSuccess();
  const position = success?.getPosition();
  if (success && position) {
    const pair = { commit: position.getCommitPosition(), prepare: position.getPreparePosition() };
    const appended = { revision: Number(success.getCurrentRevision()), position: positionOf(pair) };
    return { kind: "appended", appended };
  }
  const error = reply.getError();
  const name = nameOf(error);
  if (name === "WrongExpectedVersion") return { kind: "conflict" };
  if (name === "StreamDeleted") return { kind: "closed" };
  const details = error?.getDetails()?.getValue_asU8();
  return { kind: "refused", error: refusalOf(name, details, error?.getMessage() ?? "") };
}

function nameOf(error: statusPb.Status | undefined): string | undefined {
  return error?.getDetails()?.getTypeName().replace("event_store.client.", "");
}

function refusalOf(name: string | undefined, details: Uint8Array | undefined, message: string): Error {
  switch (name) {
    case "MaximumAppendSizeExceeded": {
      const bytes = shared.MaximumAppendSizeExceeded.deserializeBinary(details ?? new Uint8Array()).getMaxappendsize();
      return new EntryTooLarge(`an append has ${bytes} bytes at most on this server`);
    }
    case "BadRequest":
      return new UnacceptableEntry("the server calls the append a bad request");
    case "AccessDenied":
      return new LogUnavailable(
        "EventStoreDB denies access (append): the user in RELAY_EVENTSTOREDB_URL may not write streams: " +
        "the default ACL in stream $settings, or $acl, $w in a stream's metadata, keeps it from that",
      );
    default:
      return new LogUnavailable(`EventStoreDB refuses appends: ${name ?? "unknown"} ${message}`);
  }
}
