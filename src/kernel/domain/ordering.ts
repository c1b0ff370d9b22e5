import { sha256 } from "../tools/hashing.ts";
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
  return Number.parseInt(sha256(keyOf(valueAt(ordering.by, JSON.parse(payload)))).slice(0, 8), 16) % slotCount;
}

/** The fields of a fact that place an event in an order; none without an order. */
export function slotIn(ordering: Ordering, payload: string): { readonly slot?: number } {
  const slot = slotOf(ordering, payload);
  return slot === null ? {} : { slot };
}

/** The value that a JSON Pointer leads to; undefined where there is none. */
function valueAt(pointer: string, root: unknown): unknown {
  let value = root;
  for (const token of pointer.split("/").slice(1)) {
    const name = token.replaceAll("~1", "/").replaceAll("~0", "~");
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined;
    if (Array.isArray(value) && !/^(?:0|[1-9]\d*)$/.test(name)) return undefined;
    value = (value as Readonly<Record<string, unknown>>)[name];
  }
  return value;
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
