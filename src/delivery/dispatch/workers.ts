import type { Clock } from "../../kernel/ports/clock.ts";
import type { ExpiringState } from "../../kernel/ports/expiring-state.ts";
import type { Ids } from "../../kernel/ports/ids.ts";

/** How often a process says which attempts it holds that take longer than they should, ms. */
const markEveryMs = 1_000;
/** How long others believe it. */
const markLastsMs = 6_000;

interface Hold {
  readonly worker: string;
  readonly eventId: string;
  /** When it has taken longer than its timeout, monotonic ms. */
  readonly overdueAt: number;
}

interface WorkersParts {
  readonly ids: Pick<Ids, "uuid">;
  readonly clock: Clock;
  readonly state: Pick<ExpiringState, "get" | "put">;
  readonly deliveryTimeoutMs: number;
  /** Whether workers of other processes may use the log, too. */
  readonly isLogShared: boolean;
}

/** Tells which workers may be alive, and which attempts they hold: long ones have a mark in the expiring state. */
export class Workers {
  readonly #parts: WorkersParts;
  readonly #own = new Set<string>();
  readonly #holds = new Set<Hold>();
  #isMarking = false;

  constructor(parts: WorkersParts) {
    this.#parts = parts;
  }

  begin(): string {
    const id = this.#parts.ids.uuid();
    this.#own.add(id);
    return id;
  }

  /** Whether a worker has ended for certain: an embedded log has one process; else a lease must be over. */
  isGone(worker: string): boolean {
    return !this.#parts.isLogShared && !this.#own.has(worker);
  }

  /** A worker holds an attempt, from before its claim until its outcome is recorded. Then call the result. */
  hold(worker: string, eventId: string, timeoutMs?: number | null): () => void {
    const { clock, deliveryTimeoutMs } = this.#parts;
    const hold = { worker, eventId, overdueAt: clock.monotonic() + (timeoutMs ?? deliveryTimeoutMs) };
    this.#holds.add(hold);
    if (this.#parts.isLogShared && !this.#isMarking) this.#markLater();
    return () => this.#holds.delete(hold);
  }

  /** Those of the attempts that their workers hold. Rejects with ExpiringStateUnavailable. */
  async held<Attempt extends { readonly worker: string; readonly eventId: string }>(
    attempts: readonly Attempt[],
  ): Promise<readonly Attempt[]> {
    const { state, isLogShared } = this.#parts;
    const held = new Set([...this.#holds].map(keyOf));
    const others = [...new Set(attempts.map(({ worker }) => worker))].filter((worker) => !this.#own.has(worker));
    const marks = isLogShared && others.length > 0 ? await state.get(others.map(markOf)) : [];
    marks.forEach((mark, at) => {
      for (const eventId of JSON.parse(mark ?? "[]") as string[]) held.add(keyOf({ worker: others[at]!, eventId }));
    });
    return attempts.filter((attempt) => held.has(keyOf(attempt)));
  }

  #markLater(): void {
    this.#isMarking = this.#holds.size > 0;
    if (!this.#isMarking) return;
    this.#parts.clock.schedule(markEveryMs, () => {
      this.#mark();
      this.#markLater();
    });
  }

  #mark(): void {
    const { clock, state } = this.#parts;
    const now = clock.monotonic();
    const overdue = new Map<string, string[]>();
    for (const { worker, eventId, overdueAt } of this.#holds) {
      if (overdueAt > now) continue;
      const eventIds = overdue.get(worker);
      if (eventIds) eventIds.push(eventId);
      else overdue.set(worker, [eventId]);
    }
    for (const [worker, eventIds] of overdue) {
      // The next one makes up for a failed one.
      state.put(markOf(worker), JSON.stringify(eventIds), markLastsMs).catch(() => undefined);
    }
  }
}

function keyOf({ worker, eventId }: Pick<Hold, "worker" | "eventId">): string {
  return `${worker}/${eventId}`;
}

function markOf(worker: string): string {
  return `held/${worker}`;
}
