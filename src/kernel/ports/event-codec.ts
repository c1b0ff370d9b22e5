import type { DomainEvent, Metadata } from "../domain/domain-event.ts";
import type { EntryHead, LogEntry } from "./event-store.ts";

/** A fact as text, the way engines keep it. */
export interface EncodedEvent {
  readonly type: string;
  readonly data: string;
  /** JSON; holds the schema version beside the {@link Metadata}. */
  readonly metadata: string;
}

/** Why an entry is no fact to this release, see UnreadableEntry. */
export interface Unreadable {
  readonly unreadable: string;
  readonly newer: boolean;
}

/** Converts facts to and from their stored form: validates both ways, and brings old versions up to date. */
export interface EventCodec {
  /** Throws UnacceptableEntry (see event-store) when the fact does not satisfy its schema. */
  encode(event: DomainEvent, metadata: Metadata): EncodedEvent;
  /** The fact without fields that this release does not know, or why it cannot be read. Never throws. */
  decode(encoded: EncodedEvent): { event: DomainEvent; metadata: Metadata } | Unreadable;
  /** The time in stored metadata, ISO 8601 UTC; null where the metadata cannot be read. Never throws. */
  timeOf(metadata: string): string | null;
}

/** An entry as engines keep it. */
export type EncodedEntry = EntryHead & EncodedEvent;

/** The entry as the log gives it. */
export function entryOf(codec: EventCodec, encoded: EncodedEntry): LogEntry {
  const { stream, revision, position, id } = encoded;
  const read = codec.decode(encoded);
  if ("unreadable" in read) return { stream, revision, position, id, type: encoded.type, ...read };
  return { stream, revision, position, id, type: read.event.type, data: read.event.data, metadata: read.metadata };
}
