import type { FirstAttempt, QueueSession, WorkConsumer, WorkItem } from "../../src/kernel/ports/work-queue.ts";

/** Records a queue's items and sessions, as a delivery worker would see them. */
export class WorkRecorder implements WorkConsumer {
  readonly items: WorkItem[] = [];
  /** For each item whether its session was alive when it came. */
  readonly aliveAtTake: boolean[] = [];
  /** Every session that was ever told of, in order. */
  readonly sessions: QueueSession[] = [];
  readonly #lost: ((destinationId: string) => boolean)[] = [];

  take(items: readonly WorkItem[], session: QueueSession): void {
    for (const item of items) {
      this.items.push(item);
      this.aliveAtTake.push(session.alive);
    }
    this.#note(session);
  }

  reassign(isLost: (destinationId: string) => boolean, session: QueueSession): void {
    this.#lost.push(isLost);
    this.#note(session);
  }

  /** Whether a destination is this consumer's now, as the last reassignment and its session say. */
  owns(destinationId: string): boolean {
    return this.alive && this.#lost.at(-1)?.(destinationId) === false;
  }

  get alive(): boolean {
    return this.sessions.at(-1)?.alive ?? false;
  }

  /** How often the membership changed. */
  get reassignments(): number {
    return this.#lost.length;
  }

  /** Ids of the events that came, in order, repeats included. */
  get eventIds(): string[] {
    return this.items.flatMap((item) => (item.kind === "first" ? [item.eventId] : []));
  }

  #note(session: QueueSession): void {
    if (this.sessions.at(-1) !== session) this.sessions.push(session);
  }
}

/** A work item of a made-up event. */
export function firstAttempt(eventId: string, fields: Partial<FirstAttempt> = {}): FirstAttempt {
  return {
    kind: "first",
    destinationId: "01890000-0000-7000-8000-000000000001",
    tenantId: "01890000-0000-7000-8000-000000000002",
    eventId,
    payload: JSON.stringify({ event: eventId }),
    idempotencyKey: null,
    acceptedAt: "2026-01-02T03:04:05.678Z",
    causationId: "01890000-0000-7000-8000-000000000003",
    correlationId: "01890000-0000-7000-8000-000000000004",
    position: "0000000000000042",
    revision: 0,
    ...fields,
  };
}
