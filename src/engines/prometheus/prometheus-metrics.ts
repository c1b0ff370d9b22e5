import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from "prom-client";
import { finishedStatuses, type FinishedStatus } from "../../features/events/facts.ts";
import { failureReasons, type FailureReason } from "../../kernel/domain/failure-reason.ts";
import { type Clock, late, within } from "../../kernel/ports/clock.ts";
import {
  ingestStatuses, loginResults, anomalies, type LoginResult, type Metrics, type Anomaly,
} from "../../kernel/ports/telemetry.ts";

type Reading<T> = () => T | Promise<T>;

/** Read at each scrape. A reading that fails or takes over a second is left out. */
export interface Readings {
  readonly backlog: Reading<number>;
  /** Seconds; 0 if no attempt is due. */
  readonly oldestDueSeconds: Reading<number>;
  readonly projectionLagSeconds: Reading<number>;
  /** Keys wrapped by another master key than the newest. */
  readonly keysUnderOldMasterKeys: Reading<number>;
  /** Circuits by position, without Inactive destinations. */
  readonly circuits: Reading<Readonly<Record<string, number>>>;
  /** 1 if available, else 0. */
  readonly engines: Reading<Readonly<Record<string, number>>>;
  /** 1 if this process has the role, 0 if it stands by. */
  readonly leading: Reading<Readonly<Record<string, number>>>;
  /** By partition; null if the queue keeps nothing. */
  readonly queueLag: Reading<Readonly<Record<string, number>>> | null;
}

const readingTimeoutMs = 1000;
const fast = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5];
const slow = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** Counts and durations in their own registry. */
export class PrometheusMetrics implements Metrics {
  readonly #registry = new Registry();
  readonly #clock: Pick<Clock, "schedule">;
  readonly #accepted = new Counter({
    name: "relay_events_accepted_total", help: "Events accepted for delivery", registers: [this.#registry],
  });
  readonly #finished = new Counter({
    name: "relay_events_finished_total", help: "Events that came to their end, by status",
    labelNames: ["status"], registers: [this.#registry],
  });
  readonly #replayed = new Counter({
    name: "relay_events_replayed_total", help: "Finished events that went back to work: replayed or resent",
    registers: [this.#registry],
  });
  readonly #ingest = new Histogram({
    name: "relay_ingest_duration_seconds", help: "Time to answer an ingest request",
    buckets: fast, registers: [this.#registry],
  });
  readonly #ingestRequests = new Counter({
    name: "relay_ingest_requests_total", help: "Ingest requests that were answered, by status",
    labelNames: ["status"], registers: [this.#registry],
  });
  readonly #attempts = new Counter({
    name: "relay_delivery_attempts_total", help: "Delivery attempts that ended, by outcome and reason of failure",
    labelNames: ["outcome", "reason"], registers: [this.#registry],
  });
  readonly #attemptSeconds = new Histogram({
    name: "relay_delivery_attempt_duration_seconds", help: "Time a delivery attempt took, by outcome",
    labelNames: ["outcome"], buckets: slow, registers: [this.#registry],
  });
  readonly #firstAttemptDelay = new Histogram({
    name: "relay_first_attempt_delay_seconds", help: "Time from acceptance to the start of the first attempt",
    buckets: slow, registers: [this.#registry],
  });
  readonly #logins = new Counter({
    name: "relay_logins_total", help: "Logins that were answered, by result",
    labelNames: ["result"], registers: [this.#registry],
  });
  readonly #anomalies = new Counter({
    name: "relay_troubles_total", help: "Oddities that an operator should look at, by kind",
    labelNames: ["kind"], registers: [this.#registry],
  });

  /** `clock` times the readings. */
  constructor(build: { readonly version: string; readonly revision: string }, clock: Pick<Clock, "schedule">) {
    this.#clock = clock;
    collectDefaultMetrics({ register: this.#registry });
    new Gauge({
      name: "relay_build_info", help: "1, with the version of the program and the revision it was built from",
      labelNames: ["version", "revision"], registers: [this.#registry],
    }).set(build, 1);
    // A series that starts at 1 shows no increase, so each starts at 0.
    for (const status of finishedStatuses) this.#finished.inc({ status }, 0);
    for (const status of ingestStatuses) this.#ingestRequests.inc({ status }, 0);
    this.#attempts.inc({ outcome: "succeeded", reason: "none" }, 0);
    for (const reason of failureReasons) this.#attempts.inc({ outcome: "failed", reason }, 0);
    for (const result of loginResults) this.#logins.inc({ result }, 0);
    for (const kind of anomalies) this.#anomalies.inc({ kind }, 0);
  }

  accepted(): void {
    this.#accepted.inc();
  }

  finished(status: FinishedStatus): void {
    this.#finished.inc({ status });
  }

  replayed(): void {
    this.#replayed.inc();
  }

  ingest(status: number, seconds: number): void {
    this.#ingestRequests.inc({ status });
    this.#ingest.observe(seconds);
  }

  attempt(outcome: "succeeded" | "failed", reason: FailureReason | "none", seconds: number | null): void {
    this.#attempts.inc({ outcome, reason });
    if (seconds !== null) this.#attemptSeconds.observe({ outcome }, seconds);
  }

  firstAttemptDelay(seconds: number): void {
    this.#firstAttemptDelay.observe(seconds);
  }

  login(result: LoginResult): void {
    this.#logins.inc({ result });
  }

  anomaly(kind: Anomaly): void {
    this.#anomalies.inc({ kind });
  }

  watch(readings: Partial<Readings>): void {
    const { backlog, oldestDueSeconds, projectionLagSeconds, keysUnderOldMasterKeys } = readings;
    const { circuits, engines, leading, queueLag } = readings;
    this.#watch("relay_backlog_events", "Events that wait for an attempt", backlog);
    this.#watch("relay_oldest_due_seconds", "By how long the oldest due attempt is late", oldestDueSeconds);
    this.#watch("relay_projection_lag_seconds", "How far behind the log the read models are", projectionLagSeconds);
    this.#watch(
      "relay_keys_under_old_master_keys", "Keys that another master key than the newest wraps", keysUnderOldMasterKeys,
    );
    this.#watch("relay_circuits", "Circuits that are not closed, by position", circuits, "position");
    this.#watch("relay_engine_up", "Whether an engine that may be away is there", engines, "engine");
    this.#watch("relay_role_active", "Whether a role that is single runs in this process", leading, "role");
    this.#watch("relay_queue_lag_messages", "Messages that no worker took yet", queueLag, "partition");
  }

  text(): Promise<string> {
    return this.#registry.metrics();
  }

  #watch(name: string, help: string, read: Reading<number> | undefined): void;
  #watch(name: string, help: string, read: Readings["queueLag"] | undefined, label: string): void;
  #watch(
    name: string, help: string,
    read: Reading<number | Readonly<Record<string, number>>> | null | undefined, label?: string,
  ): void {
    if (!read) return;
    const anomaly = () => this.anomaly("metric not readable");
    // The next scrape awaits a slow reading: new ones each time would pile up.
    let underWay: ReturnType<typeof reading> | null = null;
    const reading = async () => read();
    const shared = () => underWay ??= reading().finally(() => {
      underWay = null;
    });
    const inTime = () => within(this.#clock, readingTimeoutMs, shared()).catch((): typeof late => late);
    new Gauge({
      name, help, labelNames: label ? [label] : [], registers: [this.#registry],
      async collect() {
        const value = await inTime();
        if (value === late) anomaly();
        this.reset();
        if (typeof value === "object") {
          for (const [key, count] of Object.entries(value)) this.set({ [label ?? ""]: key }, count);
        } else if (typeof value === "number") {
          this.set(value);
        } else if (!label) {
          // A gauge without labels would show 0 otherwise.
          this.remove();
        }
      },
    });
  }
}
