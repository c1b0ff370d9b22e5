/** Why a request is turned down; src/http/answers/errors.ts maps each kind to a status. */
export type RefusalKind =
  | "invalid"
  | "unauthenticated"
  | "forbidden"
  | "not-found"
  | "conflict"
  | "precondition-failed"
  | "too-large"
  | "wrong-type"
  | "rejected"
  | "disposable-email"
  | "too-many"
  | "unavailable";

/** A refusal the caller is told about. The message names the field at fault and never holds a secret. */
export class Refusal extends Error {
  readonly kind: RefusalKind;
  /** After how many whole seconds the caller may try again; null if that is not known. */
  readonly retryAfterS: number | null;

  constructor(kind: RefusalKind, message: string, retryAfterS: number | null = null) {
    super(message);
    this.name = "Refusal";
    this.kind = kind;
    this.retryAfterS = retryAfterS;
  }
}

/** Throws a {@link Refusal}; reads as a sentence in deciders: `refuse("conflict", "…")`. */
export function refuse(kind: RefusalKind, message: string): never {
  throw new Refusal(kind, message);
}

/** The answer; false where there is a Refusal instead. */
export async function unlessRefused(ask: () => Promise<boolean>): Promise<boolean> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof Refusal) return false;
    throw error;
  }
}
