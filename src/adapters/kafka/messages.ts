import type { FirstAttempt, WakeUp, WorkItem } from "../../ports/work-queue.ts";

/** The only layout so far. A reader that does not know a message's layout sets the message aside. */
const version = 1;

/** The bytes of an item as a message's value. */
export function encodeItem(item: WorkItem): Buffer {
  return Buffer.from(JSON.stringify({ v: version, ...item }));
}

/** The item in a message's value, or undefined when it cannot be decoded. */
export function decodeItem(value: Buffer | null): WorkItem | undefined {
  const fields = parsed(value);
  if (fields?.["v"] !== version) return undefined;
  const { destinationId, position } = fields;
  if (typeof destinationId !== "string" || typeof position !== "string") return undefined;
  if (fields["kind"] === "wake") return { kind: "wake", destinationId, position };
  return fields["kind"] === "first" ? firstAttempt(fields) : undefined;
}

/** What stands in for an item that no message has room for: its event waits in the due index. */
export function wakeUpFor({ destinationId, position }: WorkItem): WakeUp {
  return { kind: "wake", destinationId, position };
}

const texts = [
  "destinationId", "tenantId", "eventId", "payload", "acceptedAt", "causationId", "correlationId", "position",
] as const;

function firstAttempt(fields: Readonly<Record<string, unknown>>): FirstAttempt | undefined {
  const { idempotencyKey, revision } = fields;
  if (texts.some((name) => typeof fields[name] !== "string")) return undefined;
  if (idempotencyKey !== null && typeof idempotencyKey !== "string") return undefined;
  // An append that expected less than nothing could not be put on the wire, and would break off the others under way.
  if (!Number.isSafeInteger(revision) || (revision as number) < 0) return undefined;
  const { v: _, ...item } = fields;
  return item as unknown as FirstAttempt;
}

function parsed(value: Buffer | null): Readonly<Record<string, unknown>> | undefined {
  try {
    const json: unknown = JSON.parse(value?.toString("utf8") ?? "");
    return typeof json === "object" && json !== null ? (json as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
