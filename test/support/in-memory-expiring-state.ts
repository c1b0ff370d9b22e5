import type { Clock } from "../../src/ports/clock.ts";
import type { ExpiringState, RateLimit, Ticket } from "../../src/ports/expiring-state.ts";

/** The port as plainly as it can be said, for tests that need no engine. */
export class InMemoryExpiringState implements ExpiringState {
  readonly #clock: Pick<Clock, "now">;
  readonly #values = new Map<string, { readonly value: string; readonly until: number }>();
  readonly #admitted = new Map<string, { readonly id: string; readonly at: number }[]>();
  #tickets = 0;

  constructor(clock: Pick<Clock, "now">) {
    this.#clock = clock;
  }

  async get(keys: readonly string[]): Promise<readonly (string | null)[]> {
    return keys.map((key) => {
      const found = this.#values.get(key);
      return found && found.until > this.#clock.now() ? found.value : null;
    });
  }

  async put(key: string, value: string, ttlMs: number | null): Promise<void> {
    this.#values.set(key, { value, until: ttlMs === null ? Infinity : this.#clock.now() + ttlMs });
  }

  async admit(keys: readonly string[], { max, windowMs }: RateLimit): Promise<Ticket | null> {
    const at = this.#clock.now();
    const counted = (key: string) => (this.#admitted.get(key) ?? []).filter((other) => other.at > at - windowMs);
    if (keys.some((key) => counted(key).length >= max)) return null;
    const id = String((this.#tickets += 1));
    for (const key of keys) this.#admitted.set(key, [...counted(key), { id, at }]);
    return { id, keys };
  }

  async forgive({ id, keys }: Ticket): Promise<void> {
    for (const key of keys)
      this.#admitted.set(
        key,
        (this.#admitted.get(key) ?? []).filter((other) => other.id !== id),
      );
  }

  async lease(name: string, owner: string, ttlMs: number): Promise<boolean> {
    const [holder] = await this.get([`lease:${name}`]);
    if (holder != null && holder !== owner) return false;
    await this.put(`lease:${name}`, owner, ttlMs);
    return true;
  }

  async release(name: string, owner: string): Promise<void> {
    const [holder] = await this.get([`lease:${name}`]);
    if (holder === owner) this.#values.delete(`lease:${name}`);
  }
}
