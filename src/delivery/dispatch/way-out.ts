import { changeCircuit, type Circuit } from "../../features/circuits/facts.ts";
import type { Destination } from "../../features/destinations/facts.ts";
import { tenants } from "../../features/tenants/facts.ts";
import type { Aggregates } from "../../kernel/log/aggregates.ts";
import { timestampNow } from "../../kernel/ports/clock.ts";
import type { Metrics } from "../../kernel/ports/telemetry.ts";
import type { Attempts } from "./attempts.ts";
import type { RetryPause, RetryPauseParts } from "./pauses.ts";
import { ProxyGate } from "./proxy-gate.ts";
import { originOf } from "./work.ts";

/** The parts needed to try the outbound proxy, and to tell of its failures. */
export interface WayOutParts extends RetryPauseParts {
  readonly aggregates: Aggregates;
  readonly attempts: Attempts;
  readonly metrics: Pick<Metrics, "anomaly">;
  readonly workerId: string;
}

type ProxyChange = { readonly type: "FailProxy"; readonly problem: string } | { readonly type: "RecoverProxy" };

/** The way of one destination's attempts through the outbound proxy: tried, and its failures recorded. */
export class WayOut {
  readonly #parts: WayOutParts;
  readonly #retryPause: RetryPause;
  readonly #resume: () => void;
  readonly #gate: ProxyGate;
  #telling = false;

  constructor(parts: WayOutParts, retryPause: RetryPause, resume: () => void) {
    this.#parts = parts;
    this.#retryPause = retryPause;
    this.#resume = resume;
    this.#gate = new ProxyGate(parts.clock, parts.attempts.useProxy, resume);
  }

  /** Whether attempts may begin. */
  get open(): boolean {
    return this.#gate.open;
  }

  /** Why the proxy failed last, until it works again. */
  get problem(): string | null {
    return this.#gate.problem;
  }

  /** Whether attempts may begin; if that is not known, tries the proxy, and later resumes. */
  look({ destination, circuit }: { readonly destination: Destination; readonly circuit: Circuit }): boolean {
    if (this.#gate.open) return true;
    const { aggregates, attempts } = this.#parts;
    const tenant = aggregates.peek(tenants, destination.tenantId)?.state;
    if (tenant && this.#gate.mayTry) {
      const trial = () => attempts.prepare({ destination, tenant });
      void this.#retryPause.run(() => this.#gate.try(trial)).then(this.#resume);
    }
    const { problem } = this.#gate;
    if (problem !== null && circuit.proxyProblem === undefined) this.#tell(circuit, { type: "FailProxy", problem });
    return false;
  }

  tellOfRecovery(circuit: Circuit): void {
    this.#tell(circuit, { type: "RecoverProxy" });
  }

  /** An attempt went out. */
  pass(): void {
    this.#gate.pass();
  }

  /** An attempt was withdrawn. */
  fail(problem: string): void {
    this.#gate.fail(problem);
  }

  /** From now on the end of a pause does not resume. */
  unwatch(): void {
    this.#gate.unwatch();
  }

  /** Records a change in the circuit's stream: once for an outage, and once for its end. */
  #tell(circuit: Circuit, change: ProxyChange): void {
    if (this.#telling) return;
    this.#telling = true;
    const { clock, workerId } = this.#parts;
    if (change.type === "FailProxy") this.#warn(change.problem);
    const origin = originOf({ correlationId: circuit.destinationId, causationId: null }, workerId);
    const command = { ...change, at: timestampNow(clock) };
    void this.#retryPause.run(async () => changeCircuit(this.#parts, circuit, origin, command)).then(() => {
      this.#telling = false;
      this.#resume();
    });
  }

  #warn(why: string): void {
    const { logger, logThrottle, metrics } = this.#parts;
    const message = "the outbound proxy fails: deliveries wait";
    metrics.anomaly("outbound proxy");
    logThrottle.tell(
      why,
      (problem) => logger.warn({ problem }, message),
      (problem, destinations) => logger.warn({ problem, destinations }, message),
    );
  }
}
