/** bcrypt, off the request thread. */
export interface Passwords {
  /**
   * The hash to store (`$2b$…`, 60 characters), with a fresh salt. Throws RangeError for what passwordProblem (see
   * domain/tenant/password) says is no password, and, as {@link matches} does, a Refusal (unavailable) when too many
   * passwords wait already.
   */
  hash(password: string): Promise<string>;
  /** Takes the same time for any hash, including a made-up one and those of a lower cost than the present one. */
  matches(password: string, hash: string): Promise<boolean>;
  /** A hash no password matches: what an unknown user's attempt is compared with. */
  readonly nobody: string;
}
