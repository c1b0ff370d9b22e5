/**
 * bcrypt, off the request thread. What is asked waits by `owner`: owners take turns, and when too much waits, who has
 * the most waiting loses its newest, so that nobody keeps others from being served.
 */
export interface Passwords {
  /**
   * The hash to store (`$2b$…`, 60 characters), with a fresh salt. Throws RangeError for what passwordProblem (see
   * domain/tenant/password) says is no password, and, as {@link matches} does, a Refusal (unavailable) when too many
   * passwords wait and no other owner has more of them.
   */
  hash(password: string, owner: string): Promise<string>;
  /** Takes the same time for any hash, including a made-up one and those of a lower cost than the present one. */
  matches(password: string, hash: string, owner: string): Promise<boolean>;
  /** A hash no password matches: what an unknown user's attempt is compared with. */
  readonly nobody: string;
}
