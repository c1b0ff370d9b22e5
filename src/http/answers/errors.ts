import { Refusal, type RefusalKind } from "../../kernel/domain/refusal.ts";
import { EntryTooLarge, LogUnavailable, RevisionConflict } from "../../kernel/ports/event-store.ts";
import { ExpiringStateUnavailable } from "../../kernel/ports/expiring-state.ts";
import { ReadModelsUnavailable } from "../../kernel/ports/read-models.ts";

const statusOf: Readonly<Record<RefusalKind, number>> = {
  invalid: 400,
  unauthenticated: 401,
  forbidden: 403,
  "not-found": 404,
  conflict: 409,
  "precondition-failed": 412,
  "too-large": 413,
  "wrong-type": 415,
  rejected: 422,
  "disposable-email": 422,
  "too-many": 429,
  unavailable: 503,
};

const unavailabilities = [LogUnavailable, ReadModelsUnavailable, ExpiringStateUnavailable];

/** The answer to a caller after an error. */
export interface ErrorAnswer {
  readonly status: number;
  readonly text: string;
  /** In place of the text, for the one kind of error that is told as JSON. */
  readonly body?: object;
  /** Whether it is unexpected, so that an operator must learn of it. */
  readonly unforeseen: boolean;
}

/** The answer to an error. An error that is not a Refusal is not shown to the caller. */
export function errorAnswer(error: unknown): ErrorAnswer {
  if (error instanceof Refusal) {
    const { kind, message } = error;
    const answer = { status: statusOf[kind], text: message, unforeseen: false };
    return kind === "disposable-email" ? { ...answer, body: { error: "disposable_email", message } } : answer;
  }
  if (unavailabilities.some((kind) => error instanceof kind)) {
    return { status: 503, text: "the service cannot reach its storage; try again", unforeseen: false };
  }
  if (error instanceof EntryTooLarge) {
    return { status: 413, text: "body: is too large for the log to keep as one event", unforeseen: false };
  }
  if (error instanceof RevisionConflict) {
    return { status: 503, text: "too many changes of the same thing at once; try again", unforeseen: false };
  }
  return { status: 500, text: "something went wrong here; it has been noted", unforeseen: true };
}
