import { auditDocument, auditItem } from "../../../projections/audit/audit.ts";
import type { DomainEvent } from "../../kernel/domain/domain-event.ts";
import { categoryOf } from "../../kernel/domain/streams.ts";
import type { RecordedEvent } from "../../kernel/ports/event-store.ts";
import type { CircuitEvent } from "../circuits/facts.ts";
import type { EventStatus, WebhookEvent } from "../events/facts.ts";
import { historyItem } from "../facts.ts";
import { eventFactsIn } from "../messages/facts.ts";

/** The kinds of entries that a client of the stream can ask for. */
export const streamKinds = ["event", "circuit", "audit"] as const;
export type StreamKind = (typeof streamKinds)[number];

/** What a client of the stream wants; absent filters let everything through. */
export interface Wanted {
  readonly kinds: readonly StreamKind[];
  readonly destinationId?: string | undefined;
  /** Any of them. */
  readonly destinationIds?: readonly string[] | undefined;
  readonly ownerId?: string | undefined;
  readonly payload: boolean;
}

/** One frame of an entry. Its texts lack the id and the empty line that ends it, and are shared by all clients. */
export interface Frame {
  readonly kind: StreamKind;
  readonly destinationId: string | null;
  readonly ownerId: string | null;
  readonly text: string;
  /** Makes the text with the payload, of an accepted event. */
  readonly withPayload?: () => string;
}

interface Move {
  readonly eventId: string;
  readonly destinationUrlId: string;
  readonly type: WebhookEvent["type"];
  /** Null for an accepted event. */
  readonly from: EventStatus | null;
  readonly to: EventStatus;
  readonly at: string;
  readonly attempt: number | null;
  readonly statusCode: number | null;
  readonly reason: string | null;
  readonly durationMs: number | null;
  readonly test: boolean;
  readonly eventType: string | null;
  readonly ownerId: string | null;
  readonly senderId: string | null;
}

/** Tells the sender of an event, of which later facts of the event do not tell. */
export type SenderOf = (eventId: string) => string | null;

/** The frames of an entry of the log, masked as histories are; none where the stream leaves it out. */
export function framesOf(entry: RecordedEvent, senderOf: SenderOf): readonly Frame[] {
  switch (categoryOf(entry.stream)) {
    case "event":
      return eventFactsIn(entry).map((fact) => movedFrame(fact, senderOf));
    case "circuit":
      return [circuitFrame(entry as RecordedEvent<CircuitEvent>), ...auditFrames(entry)];
    default:
      return auditFrames(entry);
  }
}

/** Whether a client wants a frame. */
export function isWanted({ kind, destinationId, ownerId }: Frame, wanted: Wanted): boolean {
  return wanted.kinds.includes(kind) &&
    (wanted.destinationId === undefined || destinationId === wanted.destinationId) &&
    (wanted.destinationIds === undefined || wanted.destinationIds.includes(destinationId ?? "")) &&
    (wanted.ownerId === undefined || ownerId === wanted.ownerId);
}

/** The text of a frame, all but its end. */
export function frameText(event: string, data: object): string {
  return `event: ${event}\ndata: ${JSON.stringify(data)}\n`;
}

function movedFrame({ type, data }: WebhookEvent, senderOf: SenderOf): Frame {
  const { eventId, destinationId } = data;
  const accepted = type === "EventAccepted";
  const { eventType = null, ownerId = null, test = false } = data;
  const known = data as Partial<Pick<Move, "attempt" | "durationMs" | "reason">> & {
    readonly answer?: { readonly statusCode: number } | null;
  };
  const move: Move = {
    eventId, destinationUrlId: destinationId, type,
    ...(accepted ? { from: null, to: "Pending" } : { from: data.from, to: data.to }),
    at: data.at,
    attempt: known.attempt ?? null,
    statusCode: known.answer?.statusCode ?? null,
    reason: known.reason ?? null,
    durationMs: known.durationMs ?? null,
    test, eventType, ownerId,
    senderId: accepted ? data.senderId : senderOf(eventId),
  };
  let made: string | undefined;
  return {
    kind: "event", destinationId, ownerId, text: frameText("moved", move),
    ...(accepted && { withPayload: () => (made ??= frameText("moved", { ...move, payload: data.payload })) }),
  };
}

function circuitFrame(fact: RecordedEvent<CircuitEvent>): Frame {
  const { destinationId } = fact.data;
  const { type, ...item } = historyItem(fact);
  const text = frameText("circuit", {
    type, subject: { type: "circuit", id: destinationId }, destinationUrlId: destinationId,
    ...item,
  });
  return { kind: "circuit", destinationId, ownerId: null, text };
}

function auditFrames({ type, data, ...recording }: RecordedEvent): readonly Frame[] {
  const document = auditDocument(type, data, recording);
  if (!document) return [];
  const { destinationId = null } = data as DomainEvent["data"] & { readonly destinationId?: string | null };
  return [{ kind: "audit", destinationId, ownerId: null, text: frameText("audit", auditItem(document)) }];
}
