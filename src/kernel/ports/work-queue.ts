import type { Position } from "./event-store.ts";

/** A newly accepted event with all data for its first attempt, so that nothing is read back. */
export interface FirstAttempt {
  readonly kind: "first";
  readonly eventType?: string;
  readonly ownerId?: string;
  readonly messageId?: string;
  readonly test?: true;
  readonly destinationId: string;
  readonly tenantId: string;
  readonly eventId: string;
  readonly payload: string;
  readonly idempotencyKey: string | null;
  readonly acceptedAt: string;
  readonly causationId: string;
  readonly correlationId: string;
  readonly position: Position;
  readonly revision: number;
}

/** "This destination may have due work": its worker looks into the due index. */
export interface WakeUp {
  readonly kind: "wake";
  readonly destinationId: string;
  /** The position that the due index must have reached before it is asked; `logStart` if no fact caused the wake-up. */
  readonly position: Position;
}

/** An item of the queue, keyed by its destination. */
export type WorkItem = FirstAttempt | WakeUp;

/** A worker's membership: while it lasts, the destinations of its items are this worker's alone. */
export interface QueueSession {
  /** False once it is over, or may be; a worker starts nothing under a session that is not alive. */
  readonly alive: boolean;
}

/** The consumer of a process's share of the items. */
export interface WorkConsumer {
  take(items: readonly WorkItem[], session: QueueSession): void;
  /** The membership changed: lost destinations are another worker's now, the rest goes on under `session`. */
  reassign(isLost: (destinationId: string) => boolean, session: QueueSession): void;
}

/** A hint and a load balancer: losing, repeating or reordering items costs time, never an event. */
export interface WorkQueue {
  /** Resolves when the queue holds the items. Throws QueueUnavailable. */
  publish(items: readonly WorkItem[]): Promise<void>;
  /** Hands this process its share of the items, keyed by destination. Survives the engine's restarts. */
  consume(consumer: WorkConsumer): Promise<{ stop(): Promise<void> }>;
}

/** The queue cannot be reached. Whether the items were stored may be unknown. */
export class QueueUnavailable extends Error {
  override readonly name: string = "QueueUnavailable";
}
