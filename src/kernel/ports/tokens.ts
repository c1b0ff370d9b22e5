/** The claims of a session's token. */
export interface SessionClaims {
  readonly userId: string;
  readonly tenantId: string;
  readonly role: string;
  readonly tokenId: string;
  /** Of a browser's session: the id that all its tokens share, by which they are revoked together. Else the token's. */
  readonly sessionId: string;
  readonly sessionVersion: number;
  /** ISO 8601 UTC, whole seconds. */
  readonly issuedAt: string;
  readonly expiresAt: string;
  /** Of a browser's session: when its user gave the password, ISO 8601 UTC, whole seconds. Of an access token: null. */
  readonly passwordAt: string | null;
}

/** Tokens of sessions: signed, not encrypted. */
export interface Tokens {
  /** The token for the claims, in the one spelling that {@link verify} takes. */
  sign(claims: SessionClaims, key: Uint8Array): Promise<string>;
  /** The claims of a good token in its canonical spelling, at `now` (ms since 1970); null for anything else. */
  verify(token: string, key: Uint8Array, now: number): Promise<SessionClaims | null>;
}
