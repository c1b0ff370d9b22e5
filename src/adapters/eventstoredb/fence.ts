import type { StoredRecord } from "./records.ts";
import type { Message } from "./requests.ts";

/**
 * A deleted stream keeps its last revision on the server, and an append that expects just that revision brings it back.
 * So a deletion first appends a fence: whoever expects the revision before it gets a conflict from then on, and nobody
 * is told the fence's own. A stream that ends with a fence counts as deleted.
 */
const fenceType = "$relay-fence";

/** A fence to append; `id` is the UUID of the message. */
export function fenceMessage(id: string): Message {
  return { id, type: fenceType, data: "{}", metadata: "{}" };
}

/** Whether a record is a fence: what precedes it in its stream was deleted. */
export function isFence({ type }: StoredRecord): boolean {
  return type === fenceType;
}
