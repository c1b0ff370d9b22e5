import { ExpiringStateUnavailable, type ExpiringState } from "../../src/kernel/ports/expiring-state.ts";
import { Engine } from "./engine.ts";
import type { SimulatedProcess } from "./process.ts";
import type { Random } from "./random.ts";
import type { Scheduler } from "./scheduler.ts";

interface Kept {
  readonly value: string;
  /** By the clock of the engine, ms. */
  readonly until: number;
}

/** The expiring state of the simulated world; it survives every process. */
export class SimulatedExpiringState {
  readonly engine: Engine;
  readonly #scheduler: Scheduler;
  readonly #values = new Map<string, Kept>();
  readonly #leases = new Map<string, Kept>();
  readonly #admissions = new Map<string, { readonly id: string; readonly at: number }[]>();
  #tickets = 0;

  constructor(parts: { readonly scheduler: Scheduler; readonly random: Random }) {
    this.#scheduler = parts.scheduler;
    const unavailable = (message: string) => new ExpiringStateUnavailable(message);
    this.engine = new Engine("the expiring state", { random: parts.random, unavailable });
  }

  /** The present holder of a lease; null without one. */
  holder(name: string): string | null {
    return this.#valid(this.#leases.get(name));
  }

  /** The access of a process. */
  client(process: SimulatedProcess): ExpiringState {
    const ask = <Result>(perform: () => Result) => process.ask(this.engine, perform);
    return {
      get: (keys) => ask(() => keys.map((key) => this.#valid(this.#values.get(key)))),
      put: (key, value, ttlMs) => ask(() => {
        this.#values.set(key, { value, until: ttlMs === null ? Infinity : this.#scheduler.now + ttlMs });
      }),
      admit: (keys, { max, windowMs }) => ask(() => {
        const now = this.#scheduler.now;
        const counted = keys.map((key) => (this.#admissions.get(key) ?? []).filter(({ at }) => now - at < windowMs));
        if (counted.some((attempts) => attempts.length >= max)) return null;
        const id = `slot ${(this.#tickets += 1)}`;
        keys.forEach((key, at) => this.#admissions.set(key, [...(counted[at] ?? []), { id, at: now }]));
        return { id, keys };
      }),
      forgive: ({ id, keys }) => ask(() => {
        for (const key of keys) {
          this.#admissions.set(key, (this.#admissions.get(key) ?? []).filter((attempt) => attempt.id !== id));
        }
      }),
      lease: (name, owner, ttlMs) => ask(() => {
        const holder = this.holder(name);
        if (holder !== null && holder !== owner) return false;
        this.#leases.set(name, { value: owner, until: this.#scheduler.now + ttlMs });
        return true;
      }),
      release: (name, owner) => ask(() => {
        if (this.holder(name) === owner) this.#leases.delete(name);
      }),
      // Nothing that the simulation checks depends on tallies.
      tally: () => ask(() => undefined),
      tallies: () => ask(() => []),
      dropTallies: () => ask(() => undefined),
    };
  }

  #valid(kept: Kept | undefined): string | null {
    return kept && kept.until > this.#scheduler.now ? kept.value : null;
  }
}
