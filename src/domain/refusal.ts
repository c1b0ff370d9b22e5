/**
 * Why a request is turned down. The HTTP layer owns the one table from kind to status code:
 * invalid 400, unauthenticated 401, forbidden 403, not-found 404, conflict 409, too-large 413,
 * wrong-type 415, rejected and disposable-email 422, too-many 429, unavailable 503.
 */
export type RefusalKind =
  | "invalid"
  | "unauthenticated"
  | "forbidden"
  | "not-found"
  | "conflict"
  | "too-large"
  | "wrong-type"
  | "rejected"
  | "disposable-email"
  | "too-many"
  | "unavailable";

/** A refusal the caller is told about. The message names the field at fault and never holds a secret. */
export class Refusal extends Error {
  readonly kind: RefusalKind;

  constructor(kind: RefusalKind, message: string) {
    super(message);
    this.name = "Refusal";
    this.kind = kind;
  }
}

/** Throws a {@link Refusal}; reads as a sentence in deciders: `refuse("conflict", "…")`. */
export function refuse(kind: RefusalKind, message: string): never {
  throw new Refusal(kind, message);
}
