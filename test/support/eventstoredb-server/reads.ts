import streams from "@eventstore/db-client/generated/streams_pb.js";
import { status, type ServerWritableStream } from "@grpc/grpc-js";
import type { Database } from "./database.ts";
import type { Stored } from "./events.ts";
import { eventMessage, failure, handlerThrew, nameOf, notFoundMessage, streamDeleted } from "./messages.ts";

export type ReadCall = ServerWritableStream<streams.ReadReq, streams.ReadResp>;

/** The error with which a call ends. */
export class CallFailure extends Error {
  readonly answer: ReturnType<typeof failure>;

  constructor(answer: ReturnType<typeof failure>) {
    super(answer.details ?? "failed");
    this.answer = answer;
  }
}

/** Sends a message. Returns a promise when the client's buffer is full, resolved once it has room or is gone. */
export function send(call: ReadCall, message: streams.ReadResp): Promise<void> | undefined {
  if (call.write(message) || call.cancelled) return undefined;
  return new Promise((resolve) => {
    const events = ["drain", "cancelled", "close"];
    const done = () => {
      for (const event of events) call.off(event, done);
      resolve();
    };
    for (const event of events) call.on(event, done);
  });
}

/** Reads of a stream. */
export async function readStream(
  database: Database, call: ReadCall, options: streams.ReadReq.Options,
): Promise<void> {
  const wanted = options.getStream()!;
  const name = nameOf(wanted.getStreamIdentifier());
  const limit = Number(options.getCount());
  if (limit === 0) throw new CallFailure(failure(status.UNKNOWN, "Unexpected ReadStreamResult: Error"));
  const stream = database.stream(name);
  if (stream?.tombstone) throw new CallFailure(streamDeleted(name));
  if (!stream?.last || !stream.isFound) {
    await send(call, notFoundMessage(name));
    return;
  }
  const backwards = isBackwards(options);
  const from = wanted.hasRevision() ? BigInt(wanted.getRevision()) : wanted.hasStart() ? 0n : stream.last.revision;
  for (const event of stream.read(from, limit, backwards)) {
    const full = send(call, eventMessage(event));
    if (full) await full;
    if (call.cancelled) return;
  }
}

/** Reads of $all: forwards from a position inclusive, backwards exclusive. */
export async function readAll(database: Database, call: ReadCall, options: streams.ReadReq.Options): Promise<void> {
  const backwards = isBackwards(options);
  const limit = Number(options.getCount());
  const all = options.getAll()!;
  const start = all.hasPosition() ? startAt(database, all.getPosition()!) : all.hasEnd() ? database.length : 0;
  let sent = 0;
  const next = (index: number) => index + (backwards ? -1 : 1);
  for (let index = backwards ? start - 1 : start; sent < limit && index >= 0 && index < database.length;
    index = next(index)) {
    const event = database.at(index);
    if (!event) continue;
    const full = send(call, eventMessage(event));
    if (full) await full;
    if (call.cancelled) return;
    sent++;
  }
}

/** The index of the first record at a position or behind it, the pair compared; the position must be a record's. */
export function startAt(database: Database, position: streams.ReadReq.Options.Position): number {
  const [commit, prepare] = [BigInt(position.getCommitPosition()), BigInt(position.getPreparePosition())];
  if (prepare > commit) throw new CallFailure(handlerThrew);
  const index = database.indexFrom(commit);
  if (database.positionAt(index) !== commit && index < database.length) {
    throw new CallFailure(failure(status.UNKNOWN, "Unexpected ReadAllResult: Error"));
  }
  return index;
}

/** Whether an event passes a subscriber's filter. */
export function matcherOf(options: streams.ReadReq.Options): (event: Stored) => boolean {
  const filter = options.getFilter();
  if (!filter) return () => true;
  const byType = filter.hasEventType();
  const expression = (byType ? filter.getEventType() : filter.getStreamIdentifier())!;
  const prefixes = expression.getPrefixList();
  const subject = (event: Stored) => (byType ? event.type : event.stream);
  if (prefixes.length > 0) return (event) => prefixes.some((prefix) => subject(event).startsWith(prefix));
  let regex: RegExp;
  try {
    regex = new RegExp(expression.getRegex());
  } catch {
    throw new CallFailure(handlerThrew);
  }
  return (event) => regex.test(subject(event));
}

function isBackwards(options: streams.ReadReq.Options): boolean {
  return options.getReadDirection() === streams.ReadReq.Options.ReadDirection.BACKWARDS;
}
