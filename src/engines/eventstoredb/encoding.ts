import { nilUuid, uuidForm } from "../../kernel/domain/uuid.ts";
import type { EventCodec } from "../../kernel/ports/event-codec.ts";
import { EntryTooLarge, UnacceptableEntry, type NewEntry } from "../../kernel/ports/event-store.ts";
import type { Message } from "./requests.ts";

/** Bytes that one append may have, all its entries together. */
const appendBytesLimit = 1024 * 1024;

/**
 * The texts to append. Throws UnacceptableEntry for entries that the server would call a bad request, and
 * EntryTooLarge: a message too large for gRPC would break off other appends, too.
 */
export function messagesOf(codec: EventCodec, stream: string, entries: readonly NewEntry[]): Message[] {
  if (stream === "" || entries.length === 0) throw new UnacceptableEntry("an append needs a stream and an entry");
  if (stream.startsWith("$")) throw new UnacceptableEntry(`${stream} is a name of the server's own streams`);
  let bytes = 0;
  const messages = entries.map(({ id: given, event, metadata }) => {
    const id = given.toLowerCase();
    if (!uuidForm.test(id) || id === nilUuid) throw new UnacceptableEntry("the id of an entry is no UUID");
    const texts = codec.encode(event, metadata);
    if (texts.type === "") throw new UnacceptableEntry("an entry needs a type");
    if (texts.type.startsWith("$")) throw new UnacceptableEntry(`${texts.type} is a name of the server's own types`);
    // The server counts types in UTF-16.
    bytes += 2 * texts.type.length + Buffer.byteLength(texts.data) + Buffer.byteLength(texts.metadata);
    return { id, ...texts };
  });
  if (bytes > appendBytesLimit) throw new EntryTooLarge(`an append has ${appendBytesLimit} bytes at most`);
  return messages;
}
