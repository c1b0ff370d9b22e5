import type { DomainEvent, Metadata } from "../../src/kernel/domain/domain-event.ts";
import type { EncodedEvent, EventCodec } from "../../src/kernel/ports/event-codec.ts";
import { UnacceptableEntry } from "../../src/kernel/ports/event-store.ts";

/** Written like any type, refused when read, like an entry of a later release. */
export const unreadableType = "FromTheFuture";
/** Refused when written, like a fact that does not satisfy its schema. */
export const unacceptableType = "OutOfSchema";

/** Facts as plain JSON, without schemas: event store tests are about storing, not about shapes. */
export const plainCodec: EventCodec = {
  encode({ type, data }: DomainEvent, metadata: Metadata): EncodedEvent {
    if (type === unacceptableType) throw new UnacceptableEntry(`${type} satisfies no schema`);
    return { type, data: JSON.stringify(data), metadata: JSON.stringify(metadata) };
  },
  decode({ type, data, metadata }: EncodedEvent) {
    if (type === unreadableType) return { unreadable: `unknown type ${type}`, newer: true };
    // Another application wrote it into a stream of this name.
    if (metadata === "") return { unreadable: "no metadata", newer: false };
    return { event: { type, data: JSON.parse(data) as object }, metadata: JSON.parse(metadata) as Metadata };
  },
  timeOf: (metadata) => (metadata === "" ? null : (JSON.parse(metadata) as Metadata).at),
};
