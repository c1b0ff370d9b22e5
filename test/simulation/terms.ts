import { hold } from "./broken.ts";
import { inForce, type EventRecord, type Past } from "./records.ts";

/** Rates of destinations, attempts a second. */
export const rates = [null, null, null, 2, 10] as const;
/** What becomes of posts to a destination while its circuit is open. */
export const holdings = ["reject", "hold"] as const;

/** The time over which attempts are counted, ms. */
const windowMs = 5_000;
/** How late a dispatcher may find that its next attempt may begin, ms. */
const tickMs = 50;

interface Terms {
  readonly rates: Past<number | null>;
  readonly holds: Past<boolean>;
  /** When attempts began, by the worker. */
  readonly starts: Map<string, number[]>;
  startedAt: number;
}

/** How fast each destination wants its attempts, and whether it holds posts while its circuit is open. */
export class DestinationTerms {
  readonly #now: () => number;
  readonly #newsMs: number;
  readonly #all = new Map<string, Terms>();

  constructor(now: () => number, newsMs: number) {
    this.#now = now;
    this.#newsMs = newsMs;
  }

  /** Learns the terms that a fact of a destination tells, if it does. */
  learn(destinationId: string, type: string, data: Readonly<Record<string, unknown>>): void {
    const terms = this.#of(destinationId);
    const since = this.#now();
    if (type === "DestinationRegistered" || type === "DestinationPaceChanged") {
      terms.rates.push({ since, value: (data["ratePerSecond"] as number | null | undefined) ?? null });
    }
    if (type === "DestinationRegistered" || type === "DestinationHoldingChanged") {
      terms.holds.push({ since, value: data["whenSuspended"] === "hold" });
    }
  }

  /** An attempt begins: a worker begins no more than its destination's rate lets it. Tests use the rate, too. */
  begins({ id, destinationId, test }: EventRecord, worker: string): void {
    const terms = this.#of(destinationId);
    const now = this.#now();
    terms.startedAt = now;
    if (test) return;
    const starts = [...terms.starts.get(worker) ?? [], now].filter((at) => at > now - windowMs);
    terms.starts.set(worker, starts);
    const known = inForce(terms.rates, now - windowMs - this.#newsMs);
    if (known.includes(null)) return;
    // The log may take starts later than they were let go, and then several at once.
    const most = 1.5 * Math.max(...known.map(Number)) * (windowMs / 1_000) + 5;
    hold(starts.length <= most, "a destination's rate is kept",
      () => `${id}: ${starts.length} attempts of ${worker} in ${windowMs} ms`);
  }

  /** The time since which the rate lets a destination have its next attempt, ms of the simulation. */
  possibleSince(destinationId: string): number {
    const { rates, startedAt } = this.#of(destinationId);
    const { since, value: rate } = rates.at(-1) ?? { since: -Infinity, value: null };
    return rate === null ? since : Math.max(since, startedAt + 1_000 / rate);
  }

  /** How much longer an attempt may take to begin than without a rate: a dispatcher begins with an empty bucket. */
  patienceMs(destinationId: string): number {
    const rate = this.#rateOf(destinationId);
    return rate === null ? 0 : 1_000 / rate + tickMs;
  }

  /** How long destinations take for one attempt at each of these events by their rates, ms. */
  takesMs(events: readonly EventRecord[]): number {
    const counts = Map.groupBy(events, ({ destinationId }) => destinationId);
    return Math.max(0, ...Array.from(counts, ([id, { length }]) => {
      const rate = this.#rateOf(id);
      return rate === null ? 0 : length * 1_000 / rate;
    }));
  }

  /** Whether the destination held posts at all times since `from`, ms of the simulation. */
  held(destinationId: string, from: number): boolean {
    return !inForce(this.#of(destinationId).holds, from).includes(false);
  }

  #rateOf(destinationId: string): number | null {
    return this.#of(destinationId).rates.at(-1)?.value ?? null;
  }

  #of(destinationId: string): Terms {
    const terms = this.#all.get(destinationId) ?? { rates: [], holds: [], starts: new Map(), startedAt: -Infinity };
    this.#all.set(destinationId, terms);
    return terms;
  }
}
