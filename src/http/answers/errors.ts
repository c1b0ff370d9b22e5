import { Refusal, type RefusalKind } from "../../kernel/domain/refusal.ts";
import { EntryTooLarge, LogUnavailable, RevisionConflict } from "../../kernel/ports/event-store.ts";
import { ExpiringStateUnavailable } from "../../kernel/ports/expiring-state.ts";
import { ReadModelsUnavailable } from "../../kernel/ports/read-models.ts";
import { LogThrottle } from "../../kernel/tools/log-throttle.ts";
import type { Api } from "../api.ts";

/** The answer to a caller after an error. */
export interface ErrorAnswer {
  readonly status: number;
  readonly text: string;
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
  readonly unforeseen: boolean;
}

/** Makes the answer to an error of the request with this id. */
export type Fail = (error: unknown, requestId: string) => Omit<ErrorAnswer, "unforeseen">;

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

/** The answer to an error. The caller sees the text of a Refusal only. */
export function errorAnswer(error: unknown): ErrorAnswer {
  if (error instanceof Refusal) {
    const { kind, message, retryAfterS } = error;
    const headers = retryAfterS !== null && { headers: { "Retry-After": String(retryAfterS) } };
    const answer = { status: statusOf[kind], text: message, unforeseen: false, ...headers };
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

/** Answers errors. Logs unexpected ones one by one, and unserved requests by number: overload must not fill the log. */
export function createFailures({ logger, metrics, clock }: Pick<Api, "logger" | "metrics" | "clock">): Fail {
  const logThrottle = new LogThrottle(clock);
  const unserved = (error: unknown, requestId: string) => {
    const [known, cause] = error instanceof Refusal ? [error.message, {}] : [String(error), { err: error }];
    logThrottle.tell(
      known,
      (reason) => logger.warn({ reason, requestId, ...cause }, "a request could not be served"),
      (reason, requests) => logger.warn({ reason, requests }, "more requests could not be served"),
    );
  };
  return (error, requestId) => {
    const { unforeseen, ...answer } = errorAnswer(error);
    if (unforeseen) {
      metrics.anomaly("request failed");
      logger.error({ err: error, requestId }, "a request failed");
    } else if (answer.status === 503) unserved(error, requestId);
    return answer;
  };
}
