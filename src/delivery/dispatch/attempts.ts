import type { Destination } from "../../features/destinations/facts.ts";
import { isFinished } from "../../features/events/facts.ts";
import type { Tenant } from "../../features/tenants/facts.ts";
import { Refusal } from "../../kernel/domain/refusal.ts";
import { millis } from "../../kernel/domain/time.ts";
import { type Clock, sleep } from "../../kernel/ports/clock.ts";
import type { Position } from "../../kernel/ports/event-store.ts";
import type { Logger, Metrics } from "../../kernel/ports/telemetry.ts";
import { LogThrottle } from "../../kernel/tools/log-throttle.ts";
import type { DeliveryClient } from "../requests/delivery-client.ts";
import { failed, pauseAskedBy, type SendOutcome } from "../requests/outcome.ts";
import type { Outcomes } from "../requests/recording.ts";
import { leaseMarginMs } from "./claims.ts";
import type { ReceiverPause } from "./pauses.ts";
import { originOf, type AttemptEnd, type Claimed, type Known } from "./work.ts";

const recordAgainAfterMs = 500;

/** An attempt was withdrawn, since the outbound proxy failed. */
export interface Withdrawn {
  readonly problem: string;
  /** Where the log tells it; undefined where it does not. */
  readonly position: Position | undefined;
}

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

  /** Whether requests go through the outbound proxy. */
  get useProxy(): boolean {
    return this.#parts.client.usesProxy;
  }

  /** Opens the way of the next attempt through the outbound proxy; the proxy's failure, or null. */
  prepare(of: { readonly destination: Destination; readonly tenant: Tenant }): Promise<string | null> {
    return this.#parts.client.prepare(of);
  }

  /**
   * Sends a claimed attempt and records its outcome; its end, or that it was withdrawn. `mayDelay`: no event waits for
   * a place.
   */
  async carryOut(
    { destination, tenant, claimedFrom, ...claimed }: Claimed, pause: ReceiverPause,
    mayDelay: () => boolean = () => false,
  ): Promise<AttemptEnd | Withdrawn> {
    const { clock, metrics, client } = this.#parts;
    const { state } = claimed;
    const claimMs = clock.monotonic() - claimedFrom;
    const delayMs = Math.max(0, clock.now() - millis(state.acceptedAt));
    const delivery = { webhook: state, destination, tenant };
    // After a late claim another worker may give the attempt up as lost before it could be over.
    const outcome = claimMs > leaseMarginMs ? notSent(claimMs) : await client.send(delivery);
    if ("proxyProblem" in outcome) return this.#withdraw(claimed, outcome.proxyProblem);
    if (state.attempts === 1) metrics.firstAttemptDelay(delayMs / 1000);
    pause.ask(pauseAskedBy(outcome) ?? 0);
    // A failure may open a circuit, or plan a retry: it is recorded without delay.
    const mayWait = outcome.ok && mayDelay();
    const isOver = await this.#record(claimed, outcome, { destination, tenant }, { pause, mayWait });
    if (outcome.ok) return "delivered";
    return isOver ? "given up" : "failed";
  }

  async #withdraw(known: Known, problem: string): Promise<Withdrawn> {
    const { outcomes, workerId } = this.#parts;
    const { id, attempts: attempt } = known.state;
    const ended = { known, attempt, origin: originOf(known, workerId) };
    const appended = await this.#untilWritten(id, attempt, () => outcomes.withdraw(ended, problem));
    return { problem, position: appended?.position };
  }

  /** Records the outcome for certain, unless the record is unreadable; whether the event is finished. */
  async #record(
    known: Known, outcome: SendOutcome, { destination, tenant }: Pick<Claimed, "destination" | "tenant">,
    { pause, mayWait }: { readonly pause: ReceiverPause; readonly mayWait: boolean },
  ): Promise<boolean> {
    const { outcomes, logger, metrics, workerId } = this.#parts;
    const { state } = known;
    const attempt = state.attempts;
    const pausedUntil = () => pause.until;
    const origin = originOf(known, workerId);
    const recording = outcomes.recording({
      known, attempt, outcome, claimedFor: { tenant, destination }, pausedUntil, origin, mayWait,
    });
    const recorded = await this.#untilWritten(state.id, attempt, () => recording.finish());
    if (!recorded) return false;
    const { status } = recorded;
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
    return isFinished(status);
  }

  /** Repeats a task until the log takes its facts; undefined where only a newer release can read the record. */
  async #untilWritten<T>(eventId: string, attempt: number, task: () => Promise<T>): Promise<T | undefined> {
    for (;;) {
      try {
        return await task();
      } catch (error) {
        if (error instanceof Refusal) {
          this.#giveUp(error, eventId, attempt);
          return undefined;
        }
        this.#tell(error, eventId, attempt);
        await sleep(this.#parts.clock, recordAgainAfterMs);
      }
    }
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
