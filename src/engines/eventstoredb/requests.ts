import shared from "@eventstore/db-client/generated/shared_pb.js";
import streams from "@eventstore/db-client/generated/streams_pb.js";
import empties from "google-protobuf/google/protobuf/empty_pb.js";
import { nilUuid, uuidForm } from "../../kernel/domain/uuid.ts";
import type { EncodedEvent, EventCodec } from "../../kernel/ports/event-codec.ts";
import { noStream, EntryTooLarge, UnacceptableEntry, type NewEntry } from "../../kernel/ports/event-store.ts";
import type { PositionPair } from "./positions.ts";

/** An entry to append. */
export interface Message extends EncodedEvent {
  readonly id: string;
  /** The size of data and metadata. */
  readonly bytes: number;
}

/** The server's filter of a subscription, by prefixes. */
export interface Filter {
  readonly by: "stream" | "type";
  readonly prefixes: readonly string[];
  /** Records examined between two checkpoints. */
  readonly window: number;
}

const all = Number.MAX_SAFE_INTEGER;

/** A read of a stream from a revision, or from its start or end. */
export function readStreamRequest(
  stream: string, options: { readonly from?: number; readonly limit?: number; readonly backwards: boolean },
): streams.ReadReq {
  const { from, limit = all, backwards } = options;
  const wanted = new streams.ReadReq.Options.StreamOptions().setStreamIdentifier(identifierOf(stream));
  if (from !== undefined) wanted.setRevision(String(from));
  else if (backwards) wanted.setEnd(new shared.Empty());
  else wanted.setStart(new shared.Empty());
  return read(bounded(limit, backwards).setStream(wanted).setNoFilter(new shared.Empty()));
}

/** A read of $all: forwards from a position (inclusive) or the start, backwards from one (exclusive) or the end. */
export function readAllRequest(from: PositionPair | undefined, limit: number, backwards: boolean): streams.ReadReq {
  const wanted = new streams.ReadReq.Options.AllOptions();
  if (from) wanted.setPosition(pair(from));
  else if (backwards) wanted.setEnd(new shared.Empty());
  else wanted.setStart(new shared.Empty());
  return read(bounded(limit, backwards).setAll(wanted).setNoFilter(new shared.Empty()));
}

/** A subscription to $all after a position. */
export function subscribeRequest(
  after: PositionPair | undefined, { by, prefixes, window }: Filter,
): streams.ReadReq {
  const wanted = new streams.ReadReq.Options.AllOptions();
  if (after) wanted.setPosition(pair(after));
  else wanted.setStart(new shared.Empty());
  const expression = new streams.ReadReq.Options.FilterOptions.Expression().setPrefixList([...prefixes]);
  const filtering = new streams.ReadReq.Options.FilterOptions().setMax(window).setCheckpointintervalmultiplier(1);
  if (by === "stream") filtering.setStreamIdentifier(expression);
  else filtering.setEventType(expression);
  return read(new streams.ReadReq.Options()
    .setAll(wanted)
    .setSubscription(new streams.ReadReq.Options.SubscriptionOptions())
    .setFilter(filtering)
    .setUuidOption(textIds()));
}

/** Has no deadline, which the server would compare with its own clock; its write timeout (2 s) holds instead. */
export function appendRequest(
  correlation: string, stream: string, expected: number, messages: readonly Message[],
): streams.BatchAppendReq {
  const options = new streams.BatchAppendReq.Options().setStreamIdentifier(identifierOf(stream));
  if (expected === noStream) options.setNoStream(new empties.Empty());
  else options.setStreamPosition(String(expected));
  return new streams.BatchAppendReq()
    .setCorrelationId(new shared.UUID().setString(correlation))
    .setOptions(options)
    .setProposedMessagesList(messages.map(proposed))
    .setIsFinal(true);
}

/** A soft deletion of a stream at a revision. */
export function deleteRequest(stream: string, revision: number): streams.DeleteReq {
  return new streams.DeleteReq().setOptions(new streams.DeleteReq.Options()
    .setStreamIdentifier(identifierOf(stream))
    .setRevision(String(revision)));
}

/** The deletion of a stream for good, at its revision. */
export function tombstoneRequest(stream: string, revision: number): streams.TombstoneReq {
  const options = new streams.TombstoneReq.Options().setStreamIdentifier(identifierOf(stream));
  if (revision === noStream) options.setNoStream(new shared.Empty());
  else options.setRevision(String(revision));
  return new streams.TombstoneReq().setOptions(options);
}

function proposed({ id, type, data, metadata }: Message): streams.BatchAppendReq.ProposedMessage {
  const message = new streams.BatchAppendReq.ProposedMessage()
    .setId(new shared.UUID().setString(id))
    .setData(Buffer.from(data))
    .setCustomMetadata(Buffer.from(metadata));
  message.getMetadataMap().set("type", type).set("content-type", "application/json");
  return message;
}

function bounded(limit: number, backwards: boolean): streams.ReadReq.Options {
  const { FORWARDS, BACKWARDS } = streams.ReadReq.Options.ReadDirection;
  return new streams.ReadReq.Options()
    .setCount(String(Math.min(limit, all)))
    .setReadDirection(backwards ? BACKWARDS : FORWARDS)
    .setUuidOption(textIds());
}

function read(options: streams.ReadReq.Options): streams.ReadReq {
  return new streams.ReadReq().setOptions(options.setResolveLinks(false));
}

function pair({ commit, prepare }: PositionPair) {
  return new streams.ReadReq.Options.Position().setCommitPosition(commit).setPreparePosition(prepare);
}

function identifierOf(stream: string) {
  return new shared.StreamIdentifier().setStreamName(Buffer.from(stream));
}

function textIds() {
  return new streams.ReadReq.Options.UUIDOption().setString(new shared.Empty());
}

const appendBytesLimit = 1024 * 1024;

/** Throws UnacceptableEntry, and EntryTooLarge: a message too large for gRPC would break off other appends. */
export function messagesOf(codec: EventCodec, stream: string, entries: readonly NewEntry[]): Message[] {
  if (stream === "" || entries.length === 0) throw new UnacceptableEntry("an append needs a stream and an entry");
  if (stream.startsWith("$")) throw new UnacceptableEntry(`${stream} is a name of the server's own streams`);
  let total = 0;
  const messages = entries.map(({ id: given, event, metadata }) => {
    const id = given.toLowerCase();
    if (!uuidForm.test(id) || id === nilUuid) throw new UnacceptableEntry("the id of an entry is no UUID");
    const texts = codec.encode(event, metadata);
    if (texts.type === "") throw new UnacceptableEntry("an entry needs a type");
    if (texts.type.startsWith("$")) throw new UnacceptableEntry(`${texts.type} is a name of the server's own types`);
    // The server counts types in UTF-16.
    const bytes = Buffer.byteLength(texts.data) + Buffer.byteLength(texts.metadata);
    total += 2 * texts.type.length + bytes;
    return { id, ...texts, bytes };
  });
  if (total > appendBytesLimit) throw new EntryTooLarge(`an append has ${appendBytesLimit} bytes at most`);
  return messages;
}
