import type { StoredRecord } from "./records.ts";
import type { Message } from "./requests.ts";

/**
 * A deleted stream keeps its last revision on the server, and an append that expects just that revision brings it back.
 * So a deletion first appends a fence: an append that expects the revision before the fence then conflicts, and no
 * caller learns the fence's own revision. A stream that ends with a fence counts as deleted.
 */
const fenceType = "$relay-fence";

/** A fence to append; `id` is the UUID of the message. */
export function fenceMessage(id: string): Message {
  return { id, type: fenceType, data: "{}", metadata: "{}" };
}

/** Whether a record is a fence: the records before it in its stream are deleted. */
export function isFence({ type }: StoredRecord): boolean {
  return type === fenceType;
}
