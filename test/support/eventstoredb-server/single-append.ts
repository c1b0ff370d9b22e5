import shared from "@eventstore/db-client/generated/shared_pb.js";
import streams from "@eventstore/db-client/generated/streams_pb.js";
import { status, type sendUnaryData, type ServerReadableStream } from "@grpc/grpc-js";
import type { Database } from "./database.ts";
import type { Expected, Proposed } from "./events.ts";
import type { Faults } from "./faults.ts";
import { failure, nameOf, streamDeleted } from "./messages.ts";
import { acceptable, identityOf, maxAppendSize, proposed, sizeOf } from "./proposals.ts";
import { noEvent } from "./stream.ts";

type Reply = sendUnaryData<streams.AppendResp>;

/** One append a call: its options, then its events. */
export function append(
  database: Database, faults: Faults, call: ServerReadableStream<streams.AppendReq, streams.AppendResp>, reply: Reply,
): void {
  let options = new streams.AppendReq.Options();
  const events: Proposed[] = [];
  call.on("data", (request: streams.AppendReq) => {
    const message = request.getProposedMessage();
    if (message) events.push(proposed(message));
    else options = request.getOptions() ?? options;
  });
  call.on("error", () => undefined);
  call.on("end", () => {
    void faults.onAppend(
      identityOf(nameOf(options.getStreamIdentifier()), events),
      () => answer(database, options, events),
      () => (refuse) => refuse(failure(status.DEADLINE_EXCEEDED, "Timeout")),
      (send) => send(reply),
    );
  });
}

function answer(
  database: Database, options: streams.AppendReq.Options, events: readonly Proposed[],
): (reply: Reply) => void {
  const stream = nameOf(options.getStreamIdentifier());
  if (stream === "" || !events.every(acceptable)) {
    return (reply) => reply(failure(status.INVALID_ARGUMENT, "BadRequest"));
  }
  if (sizeOf(events) > maxAppendSize) {
    return (reply) => reply(failure(status.INVALID_ARGUMENT, "Maximum Append Size Exceeded.", {
      exception: "maximum-append-size-exceeded", "maximum-append-size": String(maxAppendSize),
    }));
  }
  const expected = expectedOf(options);
  const outcome = database.append(stream, expected, events);
  switch (outcome.kind) {
    case "deleted":
      return (reply) => reply(streamDeleted(stream));
    case "conflict":
      return (reply) => reply(null, new streams.AppendResp().setWrongExpectedVersion(
        wrongVersion(expected, outcome.current),
      ));
    case "written": {
      const position = String(outcome.position);
      const success = new streams.AppendResp.Success().setPosition(
        new streams.AppendResp.Position().setCommitPosition(position).setPreparePosition(position),
      );
      if (outcome.revision === noEvent) success.setNoStream(new shared.Empty());
      else success.setCurrentRevision(String(outcome.revision));
      return (reply) => reply(null, new streams.AppendResp().setSuccess(success));
    }
  }
}

function expectedOf(options: streams.AppendReq.Options): Expected {
  if (options.hasRevision()) return BigInt(options.getRevision());
  if (options.hasNoStream()) return "no_stream";
  return options.hasStreamExists() ? "stream_exists" : "any";
}

function wrongVersion(expected: Expected, current: bigint) {
  const detail = new streams.AppendResp.WrongExpectedVersion();
  if (current === noEvent) detail.setCurrentNoStream(new shared.Empty());
  else detail.setCurrentRevision(String(current));
  if (expected === "any") return detail.setExpectedAny(new shared.Empty());
  if (expected === "no_stream") return detail.setExpectedNoStream(new shared.Empty());
  if (expected === "stream_exists") return detail.setExpectedStreamExists(new shared.Empty());
  return detail.setExpectedRevision(String(expected));
}
