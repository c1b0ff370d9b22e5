import type streams from "@eventstore/db-client/generated/streams_pb.js";
import { categoryOf, streams as names } from "../../kernel/domain/streams.ts";
import type { EncodedEntry } from "../../kernel/ports/event-codec.ts";
import { positionOf } from "./positions.ts";
import type { Message } from "./requests.ts";

/** An event from the server. */
export interface StoredRecord extends EncodedEntry {
  readonly bytes: number;
}

/** Undefined if the answer is not an event. */
export function recordOf(message: streams.ReadResp): StoredRecord | undefined {
  const recorded = message.getEvent()?.getEvent();
  if (!recorded) return undefined;
  const [data, metadata] = [recorded.getData_asU8(), recorded.getCustomMetadata_asU8()];
  return {
    stream: textOf(recorded.getStreamIdentifier()?.getStreamName_asU8() ?? new Uint8Array()),
    revision: Number(recorded.getStreamRevision()),
    position: positionOf({ commit: recorded.getCommitPosition(), prepare: recorded.getPreparePosition() }),
    id: recorded.getId()?.getString() ?? "",
    type: recorded.getMetadataMap().get("type") ?? "",
    data: textOf(data),
    metadata: textOf(metadata),
    bytes: data.length + metadata.length,
  };
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

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString();
}

/**
 * An append that expects a deleted stream's last revision revives the stream. So a deletion first appends a fence,
 * whose revision no caller learns. A stream that ends with a fence counts as deleted.
 */
const fenceType = "$relay-fence";

/** A fence to append; `id` is a UUID. */
export function fenceMessage(id: string): Message {
  return { id, type: fenceType, data: "{}", metadata: "{}" };
}

/** Whether a record is a fence: records before it in its stream are deleted. */
export function isFence({ type }: StoredRecord): boolean {
  return type === fenceType;
}
