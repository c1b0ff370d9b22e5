import { Refusal } from "../../kernel/domain/refusal.ts";
import { LogThrottle } from "../../kernel/tools/log-throttle.ts";
import type { Api } from "../api.ts";
import { errorAnswer, type ErrorAnswer } from "./errors.ts";

/** Makes the answer to an error of the request with this id. */
export type Fail = (error: unknown, requestId: string) => Omit<ErrorAnswer, "unforeseen">;

/**
 * The answer to an error. Unexpected ones are logged one by one, requests that could not be served once for each reason
 * and then by their number: overloading the service must not fill its log.
 */
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
