import type streams from "@eventstore/db-client/generated/streams_pb.js";
import type { Proposed } from "./events.ts";
import { uuidOf } from "./messages.ts";

/** Bytes that the events of one append may have together. */
export const maxAppendSize = 1_048_576;

/** An event as either call brings it. */
export function proposed(
  message: streams.AppendReq.ProposedMessage | streams.BatchAppendReq.ProposedMessage,
): Proposed {
  return {
    id: uuidOf(message.getId()),
    type: message.getMetadataMap().get("type") ?? "",
    contentType: message.getMetadataMap().get("content-type") ?? "",
    data: message.getData_asU8(),
    metadata: message.getCustomMetadata_asU8(),
  };
}

/** Whether the server accepts an event; others make a bad request. */
export function acceptable({ id, type }: Proposed): boolean {
  return type !== "" && /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(id) && /[1-9a-f]/.test(id);
}

/** The same for identical appends. */
export function identityOf(stream: string, events: readonly Proposed[]): string {
  return [stream, ...events.map(({ id }) => id)].join("/");
}

/** The size of events as the server counts it. */
export function sizeOf(events: readonly Proposed[]): number {
  return events.reduce((sum, { type, data, metadata }) => sum + 2 * type.length + data.length + metadata.length, 0);
}
