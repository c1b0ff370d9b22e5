import shared from "@eventstore/db-client/generated/shared_pb.js";
import type streams from "@eventstore/db-client/generated/streams_pb.js";
import { EntryTooLarge, LogUnavailable, UnacceptableEntry, type Appended } from "../../ports/event-store.ts";
import { positionOf } from "./positions.ts";

/** What became of an append. */
export type Outcome =
  | { readonly kind: "appended"; readonly appended: Appended }
  | { readonly kind: "conflict" }
  | { readonly kind: "refused"; readonly error: Error };

/** Reads a reply. It names its error in the details; the codes say less. */
export function outcomeOf(reply: streams.BatchAppendResp): Outcome {
  const success = reply.getSuccess();
  const position = success?.getPosition();
  if (success && position) {
    const pair = { commit: position.getCommitPosition(), prepare: position.getPreparePosition() };
    const appended = { revision: Number(success.getCurrentRevision()), position: positionOf(pair) };
    return { kind: "appended", appended };
  }
  const details = reply.getError()?.getDetails();
  const name = details?.getTypeName().replace("event_store.client.", "");
  if (name === "WrongExpectedVersion") return { kind: "conflict" };
  return { kind: "refused", error: refusalOf(name, details?.getValue_asU8(), reply.getError()?.getMessage() ?? "") };
}

function refusalOf(name: string | undefined, details: Uint8Array | undefined, message: string): Error {
  switch (name) {
    case "MaximumAppendSizeExceeded": {
      const bytes = shared.MaximumAppendSizeExceeded.deserializeBinary(details ?? new Uint8Array()).getMaxappendsize();
      return new EntryTooLarge(`an append has ${bytes} bytes at most on this server`);
    }
    case "StreamDeleted":
      return new UnacceptableEntry("the stream was deleted for good");
    case "BadRequest":
      return new UnacceptableEntry("the server calls the append a bad request");
    default:
      return new LogUnavailable(`EventStoreDB refuses appends: ${name ?? "unknown"} ${message}`);
  }
}
