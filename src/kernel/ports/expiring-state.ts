/** At most `max` within any `windowMs`. */
export interface RateLimit {
  readonly max: number;
  readonly windowMs: number;
}

/** An admission that may be taken back. */
export interface RateLimitSlot {
  readonly id: string;
  readonly keys: readonly string[];
}

/** Like occurrences, counted together under a name in a list. */
export interface Tally {
  readonly list: string;
  /** Unique in its list. Once the tally has expired, the id is not used again. */
  readonly id: string;
  readonly count: number;
  readonly firstAt: number;
  readonly lastAt: number;
  readonly value: string;
}

/** What a list keeps: its `most` tallies whose last occurrence is newest, each for `ttlMs` after its last addition. */
export interface TallyLimits {
  readonly most: number;
  readonly ttlMs: number;
}

/** The kind of an admission: the beginning of its key, up to and with the first colon. */
export function kindOf(key: string): string {
  return key.slice(0, key.indexOf(":") + 1);
}

/** How many admissions of a kind, or keys that have any, an engine keeps unless told otherwise. */
export const usualMost = 200_000;

/** The expiring state cannot be reached. Whether a write happened may be unknown. */
export class ExpiringStateUnavailable extends Error {
  override readonly name: string = "ExpiringStateUnavailable";
}

/** Shared, small state, each value with an end: throttles, revocations, leases. Throws ExpiringStateUnavailable. */
export interface ExpiringState {
  /** The values, null where there is none or its time is over. */
  get(keys: readonly string[]): Promise<readonly (string | null)[]>;
  /** Durable when it resolves; no other change of this state is. `ttlMs` null: does not expire. */
  put(key: string, value: string, ttlMs: number | null): Promise<void>;
  /**
   * Counts one attempt under every key at once, for `windowMs`; null, and nothing counted, where one is at its limit.
   * Correct under parallel callers. Beyond an engine's number of admissions, the oldest of a kind ({@link kindOf}) are
   * dropped.
   */
  admit(keys: readonly string[], limit: RateLimit): Promise<RateLimitSlot | null>;
  forgive(slot: RateLimitSlot): Promise<void>;
  /** Takes or renews a lease: true while `owner` holds it. Expires by the engine's own clock. */
  lease(name: string, owner: string, ttlMs: number): Promise<boolean>;
  release(name: string, owner: string): Promise<void>;
  /**
   * Adds to tallies, correctly under parallel callers; `value` is of the latest addition. A rejection may have added
   * some.
   */
  tally(additions: readonly Tally[], limits: TallyLimits): Promise<void>;
  /** The tallies of a list, from the one with the newest last occurrence to the oldest; ties by id, descending. */
  tallies(list: string): Promise<readonly Tally[]>;
  dropTallies(list: string): Promise<void>;
}
