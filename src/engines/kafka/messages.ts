import { Partitioners } from "kafkajs";
import type { FirstAttempt, WakeUp, WorkItem } from "../../kernel/ports/work-queue.ts";

/**
 * The only layout so far. A reader passes over a layout, or a kind, that it does not know: the due index has the work.
 * So items for facts of a newer version get a kind of their own.
 */
const version = 1;

/** The bytes of an item as a message's value. */
export function encodeItem(item: WorkItem): Buffer {
  return Buffer.from(JSON.stringify({ v: version, ...item }));
}

/**
 * The item in a message's value, without harm from fields that a newer release added; "newer" where that release wrote
 * another layout or kind, and undefined where the message is damaged.
 */
export function decodeItem(value: Buffer | null): WorkItem | "newer" | undefined {
  const { v, kind, destinationId, position, ...fields } = parsed(value) ?? {};
  if (typeof v === "number" && v > version) return "newer";
  if (v !== version || typeof destinationId !== "string" || typeof position !== "string") return undefined;
  if (kind === "wake") return { kind, destinationId, position };
  if (kind === "first") return firstAttempt({ ...fields, kind, destinationId, position });
  return typeof kind === "string" ? "newer" : undefined;
}

/** The wake-up that replaces an item too large for any message: its event waits in the due index. */
export function wakeUpFor({ destinationId, position }: WorkItem): WakeUp {
  return { kind: "wake", destinationId, position };
}

const texts = [
  "destinationId", "tenantId", "eventId", "payload", "acceptedAt", "causationId", "correlationId", "position",
] as const;

function firstAttempt(fields: Readonly<Record<string, unknown>>): FirstAttempt | undefined {
  const { idempotencyKey, revision, eventType, ownerId, test } = fields;
  if (texts.some((name) => typeof fields[name] !== "string")) return undefined;
  if (idempotencyKey !== null && typeof idempotencyKey !== "string") return undefined;
  if ([eventType, ownerId].some((said) => said !== undefined && (typeof said !== "string" || said === ""))) {
    return undefined;
  }
  if (test !== undefined && test !== true) return undefined;
  // An append at a negative revision cannot be encoded, and would break off the other appends under way.
  if (!Number.isSafeInteger(revision) || (revision as number) < 0) return undefined;
  return fields as unknown as FirstAttempt;
}

function parsed(value: Buffer | null): Readonly<Record<string, unknown>> | undefined {
  try {
    const json: unknown = JSON.parse(value?.toString("utf8") ?? "");
    return typeof json === "object" && json !== null ? (json as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

/** Which of `count` partitions holds a destination's items, as the producer and any Kafka client compute it. */
export const createPartitioner = Partitioners.DefaultPartitioner;

const partitioner = createPartitioner();

/** The partition that {@link createPartitioner} gives to a key. */
export function partitionOf(key: string, count: number): number {
  // The driver's partitioner asks for the length only when there is a key.
  const partitionMetadata = { length: count, filter: () => [] } as unknown as Parameters<
    typeof partitioner
  >[0]["partitionMetadata"];
  return partitioner({ topic: "", partitionMetadata, message: { key, value: null } });
}
