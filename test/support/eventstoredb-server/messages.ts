import shared from "@eventstore/db-client/generated/shared_pb.js";
import streams from "@eventstore/db-client/generated/streams_pb.js";
import { Metadata, status, type ServiceError } from "@grpc/grpc-js";
import type { Stored } from "./events.ts";

/** .NET ticks a millisecond: how the server tells times. */
const ticksPerMs = 10_000n;

/** A gRPC error as the server gives it: the client decides by the trailers. */
export function failure(
  code: status, details: string, trailers: Readonly<Record<string, string>> = {},
): Partial<ServiceError> & { code: status } {
  const metadata = new Metadata();
  for (const [name, value] of Object.entries(trailers)) metadata.set(name, value);
  return { code, details, metadata };
}

export function streamDeleted(stream: string) {
  return failure(status.FAILED_PRECONDITION, `Event stream '${stream}' is deleted.`, {
    exception: "stream-deleted", "stream-name": stream,
  });
}

/** The server's error when its own code throws. */
export const handlerThrew = failure(status.UNKNOWN, "Exception was thrown by handler.");

export function streamIdentifier(name: string) {
  return new shared.StreamIdentifier().setStreamName(Buffer.from(name));
}

export function nameOf(identifier: shared.StreamIdentifier | undefined): string {
  return Buffer.from(identifier?.getStreamName_asU8() ?? []).toString();
}

export function uuid(text: string) {
  return new shared.UUID().setString(text);
}

/** An id in lower case, as the server always writes it. */
export function uuidOf(id: shared.UUID | undefined): string {
  return id?.getString().toLowerCase() ?? "";
}

export function eventMessage(event: Stored): streams.ReadResp {
  const recorded = new streams.ReadResp.ReadEvent.RecordedEvent()
    .setId(uuid(event.id))
    .setStreamIdentifier(streamIdentifier(event.stream))
    .setStreamRevision(String(event.revision))
    .setCommitPosition(String(event.position))
    .setPreparePosition(String(event.position))
    .setData(event.data)
    .setCustomMetadata(event.metadata);
  recorded.getMetadataMap()
    .set("type", event.type)
    .set("content-type", event.contentType)
    .set("created", String(BigInt(event.created) * ticksPerMs));
  const read = new streams.ReadResp.ReadEvent().setEvent(recorded).setCommitPosition(String(event.position));
  return new streams.ReadResp().setEvent(read);
}

export function checkpointMessage(commit: bigint, prepare: bigint): streams.ReadResp {
  return new streams.ReadResp().setCheckpoint(
    new streams.ReadResp.Checkpoint().setCommitPosition(String(commit)).setPreparePosition(String(prepare)),
  );
}

export function caughtUpMessage(): streams.ReadResp {
  return new streams.ReadResp().setCaughtUp(new streams.ReadResp.CaughtUp());
}

export function confirmationMessage(): streams.ReadResp {
  return new streams.ReadResp().setConfirmation(
    new streams.ReadResp.SubscriptionConfirmation().setSubscriptionId(crypto.randomUUID()),
  );
}

export function notFoundMessage(stream: string): streams.ReadResp {
  return new streams.ReadResp().setStreamNotFound(
    new streams.ReadResp.StreamNotFound().setStreamIdentifier(streamIdentifier(stream)),
  );
}
