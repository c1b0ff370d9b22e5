/** bcrypt, off the request thread. */
export interface Passwords {
  hash(password: string): Promise<string>;
  /** Costs the same time for any hash, a made-up one included. */
  matches(password: string, hash: string): Promise<boolean>;
  /** A hash no password matches: what an unknown user's attempt is compared with. */
  readonly nobody: string;
}
