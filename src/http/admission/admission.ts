import { CallerGone } from "../../kernel/callers/caller.ts";
import { refuse, Refusal } from "../../kernel/domain/refusal.ts";
import type { Operation } from "../../kernel/operations/operation.ts";
import type { Clock, Timer } from "../../kernel/ports/clock.ts";
import { mayTake } from "../../kernel/tools/fair-share.ts";

const places = { plain: 64, large: 16 } as const;
/** A plain request takes a moment. A large one may read much of the log, or answer with much. */
export type Weight = keyof typeof places;

/** The caller of a request. */
export interface Asker {
  readonly tenantId: string;
  readonly callerId: string;
}

/** Frees the request's place; idempotent. */
export type Leave = () => void;

interface Waiting {
  readonly asker: Asker;
  readonly patience: Timer;
  readonly enter: () => void;
}

/** Values by owner; the next owner first. */
type Turns<Had> = Map<string, Had>;
const patienceMs = 5_000;
const mostWaiting = 1_024;
const tooMuch = "too much is asked for at once; try again";

/** Admits the requests of signed-in callers. Plain requests never wait for large ones. */
export class Admission {
  readonly #places: Readonly<Record<Weight, Places>>;

  constructor(clock: Pick<Clock, "schedule">) {
    this.#places = { plain: new Places(clock, places.plain), large: new Places(clock, places.large) };
  }

  /** Resolves once the request has a place; a large one first waits a turn of the event loop, to see its caller go. */
  async enter(weight: Weight, asker: Asker, gone: () => AbortSignal): Promise<Leave> {
    if (weight === "large") {
      await new Promise((resolve) => setImmediate(resolve));
      if (gone().aborted) throw new CallerGone();
    }
    return this.#places[weight].enter(asker, gone);
  }
}

/** The weight of a request: a read of the past may decode much of the log, whatever its operation. */
export function weightOf({ isLarge }: Pick<Operation, "isLarge">, query: string): Weight {
  return isLarge || new URLSearchParams(query).has("AsOf") ? "large" : "plain";
}

/**
 * Places for requests under way. Tenants have {@link mayTake fair shares}, and callers within a tenant: alone, a tenant
 * gets half of the places and a caller a quarter. Waiting tenants and callers take turns.
 */
export class Places {
  readonly #clock: Pick<Clock, "schedule">;
  #free: number;
  readonly #held: Turns<Map<string, number>> = new Map();
  readonly #waiting: Turns<Turns<Waiting[]>> = new Map();

  constructor(clock: Pick<Clock, "schedule">, places: number) {
    this.#clock = clock;
    this.#free = places;
  }

  /** Resolves once the request has a place. Throws a Refusal (unavailable), and CallerGone once `gone` fires. */
  async enter(asker: Asker, gone: () => AbortSignal): Promise<Leave> {
    const line = this.#waiting.get(asker.tenantId)?.get(asker.callerId);
    if (line && line.length >= mostWaiting) refuse("unavailable", tooMuch);
    if (!line && this.#mayEnter(asker)) return this.#enter(asker);
    return this.#wait(asker, gone());
  }

  #wait(asker: Asker, gone: AbortSignal): Promise<Leave> {
    return new Promise((resolve, reject) => {
      if (gone.aborted) return reject(new CallerGone());
      const over = () => {
        waiting.patience.cancel();
        gone.removeEventListener("abort", left);
      };
      const leave = (error: Error) => {
        over();
        this.#remove(waiting);
        reject(error);
      };
      const left = () => leave(new CallerGone());
      const waiting: Waiting = {
        asker,
        patience: this.#clock.schedule(patienceMs, () => leave(new Refusal("unavailable", tooMuch))),
        enter: () => {
          over();
          resolve(this.#enter(asker));
        },
      };
      gone.addEventListener("abort", left);
      this.#push(waiting);
    });
  }

  #mayEnter({ tenantId, callerId }: Asker): boolean {
    const callers = this.#held.get(tenantId);
    const ofTenant = callers ? sum(callers.values()) : 0;
    const ofCaller = callers?.get(callerId) ?? 0;
    const leftToTenant = Math.floor((this.#free - ofTenant) / 2);
    return mayTake(1, ofTenant, this.#free) && (ofCaller === 0 || mayTake(1, ofCaller, leftToTenant));
  }

  #enter({ tenantId, callerId }: Asker): Leave {
    const callers = this.#held.get(tenantId) ?? new Map<string, number>();
    this.#held.set(tenantId, callers);
    callers.set(callerId, (callers.get(callerId) ?? 0) + 1);
    this.#free -= 1;
    let hasLeft = false;
    return () => {
      if (hasLeft) return;
      hasLeft = true;
      this.#free += 1;
      const left = (callers.get(callerId) ?? 1) - 1;
      if (left > 0) callers.set(callerId, left);
      else callers.delete(callerId);
      if (callers.size === 0 && this.#held.get(tenantId) === callers) this.#held.delete(tenantId);
      this.#enterWaiting();
    };
  }

  #enterWaiting(): void {
    for (let next = this.#next(); next; next = this.#next()) {
      this.#remove(next);
      next.enter();
    }
  }

  #next(): Waiting | undefined {
    for (const [tenantId, lines] of this.#waiting) {
      for (const [callerId, [first]] of lines) {
        if (!first || !this.#mayEnter(first.asker)) continue;
        putLast(this.#waiting, tenantId);
        putLast(lines, callerId);
        return first;
      }
    }
    return undefined;
  }

  #push(waiting: Waiting): void {
    const { tenantId, callerId } = waiting.asker;
    const lines = this.#waiting.get(tenantId) ?? new Map<string, Waiting[]>();
    this.#waiting.set(tenantId, lines);
    const line = lines.get(callerId) ?? [];
    lines.set(callerId, line);
    line.push(waiting);
  }

  #remove(waiting: Waiting): void {
    const { tenantId, callerId } = waiting.asker;
    const lines = this.#waiting.get(tenantId);
    const line = lines?.get(callerId);
    const at = line?.indexOf(waiting) ?? -1;
    if (at >= 0) line?.splice(at, 1);
    if (line?.length === 0) lines?.delete(callerId);
    if (lines?.size === 0) this.#waiting.delete(tenantId);
  }
}

function putLast<Had>(turns: Turns<Had>, name: string): void {
  const had = turns.get(name);
  if (had === undefined) return;
  turns.delete(name);
  turns.set(name, had);
}

function sum(numbers: Iterable<number>): number {
  let total = 0;
  for (const number of numbers) total += number;
  return total;
}
