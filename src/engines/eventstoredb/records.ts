import { categoryOf, streams as names } from "../../kernel/domain/streams.ts";
import type { EncodedEntry } from "../../kernel/ports/event-codec.ts";
import type { EntryHead } from "../../kernel/ports/event-store.ts";
import type { Message } from "./requests.ts";

/** An event from the server. */
export interface StoredRecord extends EntryHead {
  readonly type: string;
  readonly data: Uint8Array;
  readonly metadata: Uint8Array;
}

/** The record with its data and metadata as text. */
export function encodedOf(record: StoredRecord): EncodedEntry {
  return { ...record, data: textOf(record.data), metadata: textOf(record.metadata) };
}

/** The size of a record's data and metadata. */
export function bytesOf({ data, metadata }: StoredRecord): number {
  return data.length + metadata.length;
}

/** Bytes as UTF-8. */
export function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString();
}

/** Written by the server (metadata, links, statistics) or by {@link fenceMessage}. */
export function isSystem({ stream, type }: StoredRecord): boolean {
  return stream.startsWith("$") || type.startsWith("$");
}

/** Other applications may write to the same server. */
export const ownCategories: ReadonlySet<string> = new Set(Object.keys(names));

/** Whether this service wrote the record, however damaged. */
export function isOwn(record: StoredRecord): boolean {
  return !isSystem(record) && ownCategories.has(categoryOf(record.stream));
}

/**
 * An append that expects a deleted stream's last revision revives the stream. So a deletion first appends a fence,
 * whose revision no caller learns. A stream that ends with a fence counts as deleted.
 */
const fenceType = "$relay-fence";

/** A fence to append; `id` is a UUID. */
export function fenceMessage(id: string): Message {
  return { id, type: fenceType, data: "{}", metadata: "{}", bytes: 4 };
}

/** Whether a record is a fence: records before it in its stream are deleted. */
export function isFence({ type }: StoredRecord): boolean {
  return type === fenceType;
}
