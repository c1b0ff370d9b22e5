import streams from "@eventstore/db-client/generated/streams_pb.js";
import { status, type sendUnaryData, type ServerUnaryCall } from "@grpc/grpc-js";
import type { Database, WriteOutcome } from "./database.ts";
import type { Expected } from "./events.ts";
import { failure, nameOf, streamDeleted } from "./messages.ts";

type Options = streams.DeleteReq.Options | streams.TombstoneReq.Options;

/** Soft deletion. */
export function deleteStream(
  database: Database, call: ServerUnaryCall<streams.DeleteReq, streams.DeleteResp>,
  reply: sendUnaryData<streams.DeleteResp>,
): void {
  const options = call.request.getOptions() ?? new streams.DeleteReq.Options();
  const [stream, expected] = [nameOf(options.getStreamIdentifier()), expectedOf(options)];
  const outcome = database.delete(stream, expected);
  if (outcome.kind !== "written") return reply(refusal(stream, expected, outcome));
  const position = String(outcome.position);
  reply(null, new streams.DeleteResp().setPosition(
    new streams.DeleteResp.Position().setCommitPosition(position).setPreparePosition(position),
  ));
}

/** Deletion for good. */
export function tombstone(
  database: Database, call: ServerUnaryCall<streams.TombstoneReq, streams.TombstoneResp>,
  reply: sendUnaryData<streams.TombstoneResp>,
): void {
  const options = call.request.getOptions() ?? new streams.TombstoneReq.Options();
  const [stream, expected] = [nameOf(options.getStreamIdentifier()), expectedOf(options)];
  const outcome = database.tombstone(stream, expected, crypto.randomUUID());
  if (outcome.kind !== "written") return reply(refusal(stream, expected, outcome));
  const position = String(outcome.position);
  reply(null, new streams.TombstoneResp().setPosition(
    new streams.TombstoneResp.Position().setCommitPosition(position).setPreparePosition(position),
  ));
}

function expectedOf(options: Options): Expected {
  if (options.hasRevision()) return BigInt(options.getRevision());
  if (options.hasNoStream()) return "no_stream";
  return options.hasStreamExists() ? "stream_exists" : "any";
}

/** Deletions tell versions by raw numbers, unlike appends. */
function refusal(stream: string, expected: Expected, outcome: Exclude<WriteOutcome, { kind: "written" }>) {
  if (outcome.kind === "deleted") return streamDeleted(stream);
  if (expected === "stream_exists") return failure(status.INTERNAL, "serialization failure");
  const raw = expected === "any" ? -2n : expected === "no_stream" ? -1n : expected;
  return failure(status.FAILED_PRECONDITION, `Append failed due to WrongExpectedVersion. Stream: ${stream}`, {
    exception: "wrong-expected-version", "stream-name": stream,
    "expected-version": String(raw), "actual-version": String(outcome.current),
  });
}
