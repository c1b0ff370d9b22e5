/** The only source of ids and randomness, so that a simulation can control them. */
export interface Ids {
  /** A fresh UUIDv7: sorts by the time of its making. */
  uuid(): string;
  /** 128 bits nobody can guess, in base64url: 22 characters. */
  salt(): string;
  secretBytes(length: number): Uint8Array;
  /** Uniform in [0, 1); not for secrets. */
  random(): number;
}
