import { Partitioners } from "kafkajs";
import type { FirstAttempt, WakeUp, WorkItem } from "../../kernel/ports/work-queue.ts";

/** Readers skip unknown layouts and kinds. Facts of a newer version get a kind of their own. */
const version = 1;

export function encodeItem(item: WorkItem): Buffer {
  return Buffer.from(JSON.stringify({ v: version, ...item }));
}

/** Ignores fields of newer releases. "newer": another layout or kind; undefined: damaged. */
export function decodeItem(value: Buffer | null): WorkItem | "newer" | undefined {
  const { v, kind, destinationId, position, ...fields } = parsed(value) ?? {};
  if (typeof v === "number" && v > version) return "newer";
  if (v !== version || typeof destinationId !== "string" || typeof position !== "string") return undefined;
  if (kind === "wake") return { kind, destinationId, position };
  if (kind === "first") return firstAttempt({ ...fields, kind, destinationId, position });
  return typeof kind === "string" ? "newer" : undefined;
}

/** Replaces an item too large for any message: its event is in the due index. */
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
  // A negative revision cannot be encoded, and its append would break off the others.
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

/** The partitioner of the producer and of other Kafka clients. */
export const createPartitioner = Partitioners.DefaultPartitioner;

const partitioner = createPartitioner();

export function partitionOf(key: string, count: number): number {
  // With a key, the driver's partitioner uses the length only.
  const partitionMetadata = { length: count, filter: () => [] } as unknown as Parameters<
    typeof partitioner
  >[0]["partitionMetadata"];
  return partitioner({ topic: "", partitionMetadata, message: { key, value: null } });
}
