import { sha256 } from "../tools/hashing.ts";
import { pathOf, valueAt } from "./json-pointer.ts";
import { either, object, oneOf, text, type Schema } from "./schema.ts";

/** In which order events are delivered: in any, one after the other, or so for each value at a place of the payload. */
export type Ordering = "none" | "destination" | ByPointer;

interface ByPointer {
  /** A JSON Pointer (RFC 6901) into the payload. */
  readonly by: string;
}

/** The number of slots into which the values of a {@link Ordering JSON Pointer} are hashed. */
export const slotCount = 64;

/** An ordering, as facts have it. */
export const orderingSchema: Schema<Ordering> = either(
  oneOf(["none", "destination"]), object({ by: text("A JSON Pointer into the payload.") }), "The order of deliveries.",
);

/** The slot in which an event waits for earlier ones; null where it waits for none. `payload`: JSON, as delivered. */
export function slotOf(ordering: Ordering, payload: string): number | null {
  if (ordering === "none") return null;
  if (ordering === "destination") return 0;
  return Number.parseInt(sha256(keyOf(valueAt(JSON.parse(payload), pathOf(ordering.by)))).slice(0, 8), 16) % slotCount;
}

/** The fields of a fact that place an event in an order; none without an order. */
export function slotIn(ordering: Ordering, payload: string): { readonly slot?: number } {
  const slot = slotOf(ordering, payload);
  return slot === null ? {} : { slot };
}

/** No JSON text is empty: events without a value share a key of their own. */
function keyOf(value: unknown): string {
  if (value === undefined) return "";
  try {
    return JSON.stringify(value, sorted);
  } catch {
    // Values nested too deeply for the stack share a key.
    return "{}";
  }
}

/** Equal objects have equal texts, whatever the order of their fields. */
function sorted(_name: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)));
}
