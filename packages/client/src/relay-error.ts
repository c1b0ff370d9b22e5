/**
 * The kind of an error, for programs. It follows from the status but for three: `disposable-email`, `unexpected` (the
 * answer is not the relay's) and `unreachable` (there is no answer).
 */
export type ErrorCode =
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
  | "defect"
  | "unavailable"
  | "unexpected"
  | "unreachable";

/** Details of a failed request. */
export interface ErrorDetails {
  /** The operation that was called, such as `createDestination`. */
  readonly operation: string;
  /** The field or parameter at fault, as the relay names it; null where it names none. */
  readonly field: string | null;
  /** The `X-Request-Id` of the request, by which its operator finds it; null where a proxy answered. */
  readonly requestId: string | null;
  /** After how many seconds the relay asks to try again; null where it says nothing. */
  readonly retryAfter: number | null;
}

const codes: Readonly<Record<number, ErrorCode>> = {
  400: "invalid",
  401: "unauthenticated",
  403: "forbidden",
  404: "not-found",
  408: "unavailable",
  409: "conflict",
  412: "precondition-failed",
  413: "too-large",
  415: "wrong-type",
  422: "rejected",
  429: "too-many",
  500: "defect",
};

/** A request without success. The message is the relay's own sentence, if it sent one. */
export class RelayError extends Error {
  override readonly name = "RelayError";
  /** The HTTP status; 0 without an answer. */
  readonly status: number;
  readonly code: ErrorCode;
  readonly details: ErrorDetails;

  constructor(message: string, status: number, code: ErrorCode, details: ErrorDetails, options?: ErrorOptions) {
    super(message, options);
    this.status = status;
    this.code = code;
    this.details = details;
  }
}

/** The error for an answer with this text; `now` is in ms since 1970. */
export function errorOf(operation: string, answer: Response, text: string, now: number): RelayError {
  const { status, headers } = answer;
  const told = toldBy(headers.get("content-type") ?? "", text);
  const message = told.message ?? `${status} ${answer.statusText}`.trim();
  const [, field = null] = /^([\w./$-]+): /.exec(message) ?? [];
  const code = told.isDisposableEmail ? "disposable-email"
    : codes[status] ?? (status > 500 ? "unavailable" : "unexpected");
  return new RelayError(message, status, code, {
    operation, field, requestId: headers.get("x-request-id"), retryAfter: secondsUntil(headers.get("retry-after"), now),
  });
}

/** The error for a request without a complete response; its cause is the error of `fetch`. */
export function unreachable(operation: string, cause: unknown): RelayError {
  const details = { operation, field: null, requestId: null, retryAfter: null };
  return new RelayError("the relay cannot be reached", 0, "unreachable", details, { cause });
}

/** The error for a success that is not the relay's: the page of a proxy, or an answer of another service. */
export function notTheRelays(operation: string, answer: Response): RelayError {
  const message = "the answer is not the relay's: is the address right?";
  const details = { operation, field: null, requestId: answer.headers.get("x-request-id"), retryAfter: null };
  return new RelayError(message, answer.status, "unexpected", details);
}

function toldBy(type: string, text: string): { readonly message?: string; readonly isDisposableEmail?: boolean } {
  if (type.startsWith("text/plain") && text !== "") return { message: text };
  if (!type.startsWith("application/json")) return {};
  try {
    const { error, message } = JSON.parse(text) as { error?: unknown; message?: unknown };
    return typeof message === "string" ? { message, isDisposableEmail: error === "disposable_email" } : {};
  } catch {
    return {};
  }
}

/** Seconds until the time in a `Retry-After`, which is a number of seconds or a date; null without one. */
function secondsUntil(header: string | null, now: number): number | null {
  if (header === null) return null;
  if (/^\d+$/.test(header)) return Number(header);
  const moment = Date.parse(header);
  return Number.isNaN(moment) ? null : Math.max(0, Math.ceil((moment - now) / 1_000));
}
