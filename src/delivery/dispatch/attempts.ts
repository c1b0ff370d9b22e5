import type { Destination } from "../../features/destinations/facts.ts";
import { Refusal } from "../../kernel/domain/refusal.ts";
import { millis } from "../../kernel/domain/time.ts";
import { type Clock, sleep } from "../../kernel/ports/clock.ts";
import type { Logger, Metrics } from "../../kernel/ports/telemetry.ts";
import { LogThrottle } from "../../kernel/tools/log-throttle.ts";
import type { DeliveryClient } from "../requests/delivery-client.ts";
import { failed, pauseAskedBy, type SendOutcome } from "../requests/outcome.ts";
import type { Outcomes } from "../requests/recording.ts";
import { leaseMarginMs } from "./claims.ts";
import type { ReceiverPause } from "./pauses.ts";
import { originOf, type Claimed, type Known } from "./work.ts";

const recordAgainAfterMs = 500;

interface AttemptParts {
  readonly outcomes: Outcomes;
  readonly client: DeliveryClient;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly workerId: string;
}

/** Carries out claimed attempts: sends, and records the outcome. */
export class Attempts {
  readonly #parts: AttemptParts;
  readonly #logThrottle: LogThrottle;
  readonly #hosts = new WeakMap<Destination, string>();

  constructor(parts: AttemptParts) {
    this.#parts = parts;
    this.#logThrottle = new LogThrottle(parts.clock);
  }

  /** Sends a claimed attempt and records its outcome; whether it succeeded. `mayDelay`: no event waits for a place. */
  async carryOut(
    { destination, tenant, claimedFrom, ...claimed }: Claimed, pause: ReceiverPause,
    mayDelay: () => boolean = () => false,
  ): Promise<boolean> {
    const { clock, metrics, client } = this.#parts;
    const { state } = claimed;
    const claimMs = clock.monotonic() - claimedFrom;
    if (state.attempts === 1) metrics.firstAttemptDelay(Math.max(0, clock.now() - millis(state.acceptedAt)) / 1000);
    const delivery = { webhook: state, destination, tenant };
    // After a late claim another worker may give the attempt up as lost before it could be over.
    const outcome = claimMs > leaseMarginMs ? notSent(claimMs) : await client.send(delivery);
    pause.ask(pauseAskedBy(outcome) ?? 0);
    // A failure may open a circuit, or plan a retry: it is recorded without delay.
    await this.#record(claimed, outcome, { destination, tenant }, { pause, mayWait: outcome.ok && mayDelay() });
    return outcome.ok;
  }

  /** Tries until the outcome is recorded, since the receiver has seen the request, or the record is unreadable. */
  async #record(
    known: Known, outcome: SendOutcome, { destination, tenant }: Pick<Claimed, "destination" | "tenant">,
    { pause, mayWait }: { readonly pause: ReceiverPause; readonly mayWait: boolean },
  ): Promise<void> {
    const { outcomes, clock, logger, metrics, workerId } = this.#parts;
    const { state } = known;
    const attempt = state.attempts;
    const pausedUntil = () => pause.until;
    const origin = originOf(known, workerId);
    const recording = outcomes.recording({
      known, attempt, outcome, claimedFor: { tenant, destination }, pausedUntil, origin, mayWait,
    });
    let status: string | undefined;
    while (status === undefined) {
      try {
        ({ status } = await recording.finish());
      } catch (error) {
        if (error instanceof Refusal) return this.#giveUp(error, state.id, attempt);
        this.#tell(error, state.id, attempt);
        await sleep(clock, recordAgainAfterMs);
      }
    }
    const ending = outcome.ok ? "succeeded" : "failed";
    metrics.attempt(ending, outcome.ok ? "none" : outcome.reason, outcome.durationMs / 1000);
    logger.info(
      {
        eventId: state.id,
        tenantId: state.tenantId,
        destinationId: state.destinationId,
        correlationId: known.correlationId,
        attempt,
        host: this.#hostOf(destination),
        outcome: ending,
        ...(outcome.ok ? {} : { reason: outcome.reason, error: outcome.error }),
        statusCode: outcome.answer?.statusCode,
        durationMs: outcome.durationMs,
        status,
      },
      "delivery attempt",
    );
  }

  #giveUp(error: Refusal, eventId: string, attempt: number): void {
    const { logger, metrics } = this.#parts;
    metrics.anomaly("event not readable");
    logger.error({ reason: error.message, eventId, attempt }, "an outcome cannot be recorded: it is given up");
  }

  #tell(error: unknown, eventId: string, attempt: number): void {
    const { logger } = this.#parts;
    this.#logThrottle.tell(
      String(error),
      () => logger.error({ err: error, eventId, attempt }, "an outcome could not be recorded yet"),
      (reason, times) => logger.error({ reason, times }, "outcomes could not be recorded yet"),
    );
  }

  #hostOf(destination: Destination): string {
    let host = this.#hosts.get(destination);
    if (host === undefined) this.#hosts.set(destination, (host = URL.parse(destination.url)?.host ?? ""));
    return host;
  }
}

function notSent(claimMs: number): SendOutcome {
  return failed("not sent", `nothing was sent: the log took ${Math.round(claimMs)} ms to take the claim`, 0, {});
}
