import { Refusal } from "../domain/refusal.ts";
import type { Api } from "./api.ts";
import { errorAnswer } from "./errors.ts";
import type { Fail } from "./ingest.ts";

/** How long the like of what was told is only counted. */
const quietMs = 10_000;
/** Reasons told apart at a time. */
const mostReasons = 100;

/**
 * What to answer to an error. The operator learns of each that nobody foresaw, and of requests that could not be
 * served by the first one for each reason, then by their number: whoever overloads the service must not fill its log.
 */
export function createFailures({ logger, metrics, clock }: Pick<Api, "logger" | "metrics" | "clock">): Fail {
  const counts = new Map<string, number>();

  const quiet = (reason: string) => {
    counts.set(reason, 0);
    clock.schedule(quietMs, () => {
      const requests = counts.get(reason) ?? 0;
      counts.delete(reason);
      if (requests === 0) return;
      logger.warn({ reason, requests }, "more requests could not be served");
      quiet(reason);
    });
  };
  const unserved = (error: unknown, requestId: string) => {
    const known = error instanceof Refusal ? error.message : String(error);
    const reason = counts.has(known) || counts.size < mostReasons ? known : "many reasons";
    const count = counts.get(reason);
    if (count !== undefined) {
      counts.set(reason, count + 1);
      return;
    }
    quiet(reason);
    const cause = error instanceof Refusal ? {} : { err: error };
    logger.warn({ reason, requestId, ...cause }, "a request could not be served");
  };

  return (error, requestId) => {
    const { status, text, body, unforeseen } = errorAnswer(error);
    if (unforeseen) {
      metrics.trouble("request failed");
      logger.error({ err: error, requestId }, "a request failed");
    } else if (status === 503) unserved(error, requestId);
    return { status, text, ...(body && { body }) };
  };
}
