import type { ReceiverAnswer } from "../../features/events/facts.ts";
import type { FailureReason } from "../../kernel/domain/failure-reason.ts";
import { dayMs } from "../../kernel/domain/time.ts";
import type { OutboundAnswer } from "../../kernel/ports/outbound.ts";

/** How an attempt ended, as its worker saw it. */
export type SendOutcome = {
  readonly durationMs: number;
  readonly requestHeaders: Readonly<Record<string, string>>;
} & (
  | { readonly ok: true; readonly answer: ReceiverAnswer }
  | {
      readonly ok: false;
      readonly reason: FailureReason;
      readonly error: string;
      readonly answer: ReceiverAnswer | null;
      readonly retryAfterMs: number | null;
    }
);

/** An attempt was not made, since the outbound proxy failed: it does not count. */
export interface NotMade {
  readonly proxyProblem: string;
}

/** The outcome of an attempt that got no answer. */
export function failed(
  reason: FailureReason,
  error: string,
  durationMs: number,
  requestHeaders: Readonly<Record<string, string>>,
): SendOutcome & { readonly ok: false } {
  return { ok: false, reason, error, durationMs, requestHeaders, answer: null, retryAfterMs: null };
}

/** The outcome of an attempt whose worker was lost: its duration, request and answer are unknown. */
export const outcomeUnknown = {
  ok: false,
  reason: "outcome unknown",
  error: "outcome unknown: the worker was lost in the middle of the attempt",
  durationMs: null,
  requestHeaders: null,
  answer: null,
  retryAfterMs: null,
} as const;

/** The shortest pause after a 429, ms: without `Retry-After`, and with one of no time or a time that is over. */
const leastPauseMs = 1_000;

/** The pause that a receiver asks for by a 429, ms: a second to a day. Null for any other outcome. */
export function pauseAskedBy(outcome: SendOutcome | typeof outcomeUnknown): number | null {
  if (outcome.ok || outcome.answer?.statusCode !== 429) return null;
  return Math.min(Math.max(outcome.retryAfterMs ?? 0, leastPauseMs), dayMs);
}

/** The `Retry-After` of a 429 or 503 (RFC 9110, 10.2.3), ms from `now`, a day at most; null without one. */
export function retryAfterMs(
  { statusCode, headers }: Pick<OutboundAnswer, "statusCode" | "headers">, now: number,
): number | null {
  if (statusCode !== 429 && statusCode !== 503) return null;
  const values = valuesOf(headers["retry-after"] ?? "");
  const waits = values.map((value) => waitOf(value, now)).filter((wait) => wait !== null);
  return waits.length === 0 ? null : Math.min(Math.max(0, ...waits), dayMs);
}

/** The values of a header that may have been sent several times. A comma separates them, or stands in a date. */
function valuesOf(header: string): string[] {
  const dated = header.replace(/((?:mon|tue|wed|thu|fri|sat|sun)[a-z]{0,6})\s*,/gi, "$1 ");
  return dated.split(",").map((value) => value.replace(/\s+/g, " ").trim());
}

function waitOf(value: string, now: number): number | null {
  if (/^\d+$/.test(value)) return Number(value) * 1000;
  const at = timeOf(value, now);
  return at === null ? null : at - now;
}

const time = "(?<hour>[01]\\d|2[0-3]):(?<minute>[0-5]\\d):(?<second>[0-5]\\d|60)";

/** The forms of RFC 1123 and RFC 850, and the one of C's asctime. The day of the week is not checked. */
const dates = [
  new RegExp(`^[a-z]{3,9} (?<day>\\d{1,2})[ -](?<month>[a-z]{3})[ -](?<year>\\d{4}|\\d\\d) ${time} GMT$`, "i"),
  new RegExp(`^[a-z]{3} (?<month>[a-z]{3}) (?<day>\\d{1,2}) ${time} (?<year>\\d{4})$`, "i"),
];

const months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

const mostYearsAhead = 50;

function timeOf(value: string, now: number): number | null {
  const fields = dates.map((form) => form.exec(value)?.groups).find((groups) => groups !== undefined);
  if (!fields) return null;
  const [month, day] = [months.indexOf(String(fields["month"]).toLowerCase()), Number(fields["day"])];
  const clock = [Number(fields["hour"]), Number(fields["minute"]), Number(fields["second"])] as const;
  const timeIn = (year: number) => Date.UTC(year, month, day, ...clock);
  const year = fullYear(String(fields["year"]), now, timeIn);
  const isDay = month >= 0 && new Date(Date.UTC(year, month, day)).getUTCDate() === day;
  return isDay ? timeIn(year) : null;
}

/** Two digits stand for the last year that is at most 50 years ahead (RFC 9110). */
function fullYear(digits: string, now: number, timeIn: (year: number) => number): number {
  if (digits.length === 4) return Number(digits);
  const latest = new Date(now);
  const thisYear = latest.getUTCFullYear();
  latest.setUTCFullYear(thisYear + mostYearsAhead);
  let year = (Math.floor(thisYear / 100) + 1) * 100 + Number(digits);
  while (timeIn(year) > latest.getTime()) year -= 100;
  return year;
}
