import shared from "@eventstore/db-client/generated/shared_pb.js";
import statusPb from "@eventstore/db-client/generated/status_pb.js";
import streams from "@eventstore/db-client/generated/streams_pb.js";
import type { ServerDuplexStream } from "@grpc/grpc-js";
import anyPb from "google-protobuf/google/protobuf/any_pb.js";
import emptyPb from "google-protobuf/google/protobuf/empty_pb.js";
import type { Database, WriteOutcome } from "./database.ts";
import type { Expected } from "./events.ts";
import type { Faults } from "./faults.ts";
import { nameOf, streamIdentifier, uuid, uuidOf } from "./messages.ts";
import { acceptable, identityOf, maxAppendSize, proposed, sizeOf } from "./proposals.ts";
import { noEvent } from "./stream.ts";

type Call = ServerDuplexStream<streams.BatchAppendReq, streams.BatchAppendResp>;

type ErrorCode = 3 | 4 | 6 | 9;

interface Detail {
  serializeBinary(): Uint8Array;
}

/** The parts of one append that were sent so far. */
interface Assembling {
  readonly options: streams.BatchAppendReq.Options;
  readonly events: streams.BatchAppendReq.ProposedMessage[];
}

/** Appends over one stream, each answered by its correlation id. */
export function batchAppend(database: Database, faults: Faults, call: Call): void {
  const assembling = new Map<string, Assembling>();
  call.on("data", (request: streams.BatchAppendReq) => {
    const correlation = uuidOf(request.getCorrelationId());
    let append = assembling.get(correlation);
    if (!append) {
      append = { options: request.getOptions() ?? new streams.BatchAppendReq.Options(), events: [] };
      assembling.set(correlation, append);
    }
    append.events.push(...request.getProposedMessagesList());
    if (!request.getIsFinal()) return;
    assembling.delete(correlation);
    const { options, events } = append;
    const late = (reply: streams.BatchAppendResp) => {
      setTimeout(() => !call.cancelled && call.write(reply), faults.lateReplyMs).unref();
    };
    void faults.onAppend(
      identityOf(nameOf(options.getStreamIdentifier()), events.map(proposed)),
      () => answer(database, correlation, options, events, late),
      () => timeout(correlation, nameOf(options.getStreamIdentifier())),
      (reply) => {
        if (!call.cancelled) call.write(reply);
      },
    );
  });
  call.on("end", () => call.end());
  call.on("error", () => undefined);
}

function answer(
  database: Database, correlation: string, options: streams.BatchAppendReq.Options,
  messages: readonly streams.BatchAppendReq.ProposedMessage[], later: (reply: streams.BatchAppendResp) => void,
): streams.BatchAppendResp {
  const stream = nameOf(options.getStreamIdentifier());
  const reply = () => new streams.BatchAppendResp().setCorrelationId(uuid(correlation))
    .setStreamIdentifier(streamIdentifier(stream));
  const refused = (code: ErrorCode, message: string, detail: Detail, type: string) => reply()
    .setError(errorStatus(code, message, detail, type));
  const events = messages.map(proposed);
  if (stream === "") return refused(3, "BadRequest", new shared.BadRequest(), "BadRequest");
  if (!events.every(acceptable)) {
    later(refused(4, "Timeout", new shared.Timeout(), "Timeout").setCorrelationId(structured(correlation)));
    return refused(3, "BadRequest", new shared.BadRequest(), "BadRequest");
  }
  const deadline = options.getDeadline()?.toDate().getTime() ?? Infinity;
  if (deadline <= Date.now()) return timeout(correlation, stream);
  if (sizeOf(events) > maxAppendSize) {
    const detail = new shared.MaximumAppendSizeExceeded().setMaxappendsize(maxAppendSize);
    return refused(3, "MaximumAppendSizeExceeded", detail, "MaximumAppendSizeExceeded");
  }
  const expected = expectedOf(options);
  const outcome = database.append(stream, expected, events);
  switch (outcome.kind) {
    case "written":
      return reply().setSuccess(success(outcome));
    case "conflict":
      return refused(6, "WrongExpectedVersion", wrongVersion(expected, outcome.current), "WrongExpectedVersion");
    case "deleted": {
      const detail = new shared.StreamDeleted().setStreamIdentifier(streamIdentifier(stream));
      return refused(9, "StreamDeleted", detail, "StreamDeleted");
    }
  }
}

function timeout(correlation: string, stream: string): streams.BatchAppendResp {
  return new streams.BatchAppendResp().setCorrelationId(uuid(correlation)).setStreamIdentifier(streamIdentifier(stream))
    .setError(errorStatus(4, "Timeout", new shared.Timeout(), "Timeout"));
}

function success({ revision, position }: Extract<WriteOutcome, { kind: "written" }>) {
  const done = new streams.BatchAppendResp.Success().setPosition(
    new shared.AllStreamPosition().setCommitPosition(String(position)).setPreparePosition(String(position)),
  );
  return revision === noEvent ? done.setNoStream(new emptyPb.Empty()) : done.setCurrentRevision(String(revision));
}

function expectedOf(options: streams.BatchAppendReq.Options): Expected {
  if (options.hasStreamPosition()) return BigInt(options.getStreamPosition());
  if (options.hasNoStream()) return "no_stream";
  return options.hasStreamExists() ? "stream_exists" : "any";
}

function wrongVersion(expected: Expected, current: bigint) {
  const detail = new shared.WrongExpectedVersion();
  if (current === noEvent) detail.setCurrentNoStream(new emptyPb.Empty());
  else detail.setCurrentStreamRevision(String(current));
  if (expected === "any") return detail.setExpectedAny(new emptyPb.Empty());
  if (expected === "no_stream") return detail.setExpectedNoStream(new emptyPb.Empty());
  if (expected === "stream_exists") return detail.setExpectedStreamExists(new emptyPb.Empty());
  return detail.setExpectedStreamPosition(String(expected));
}

function errorStatus(code: ErrorCode, message: string, detail: Detail, type: string) {
  const details = new anyPb.Any();
  details.pack(detail.serializeBinary(), `event_store.client.${type}`);
  return new statusPb.Status().setCode(code).setMessage(message).setDetails(details);
}

function structured(correlation: string) {
  const bits = BigInt(`0x${correlation.replaceAll("-", "")}`);
  const signed = (half: bigint) => String(BigInt.asIntN(64, half));
  return new shared.UUID().setStructured(
    new shared.UUID.Structured().setMostSignificantBits(signed(bits >> 64n)).setLeastSignificantBits(signed(bits)),
  );
}
