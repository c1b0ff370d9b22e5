import { isSame, type Circuit, type CircuitCommand, type Probe, changeCircuit } from "../../features/circuits/facts.ts";
import { millis, timestamp } from "../../kernel/domain/time.ts";
import type { Aggregates } from "../../kernel/log/aggregates.ts";
import { type Clock, timestampNow } from "../../kernel/ports/clock.ts";
import type { Logger } from "../../kernel/ports/telemetry.ts";
import { originOf } from "./work.ts";

/** The parts needed to claim and release probes. */
export interface ProbeParts {
  readonly aggregates: Aggregates;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly workerId: string;
}

/** Claims, releases and gives up probes of one destination. The log allows one at a time, of all workers. */
export class Probes {
  readonly #parts: ProbeParts;
  /** The standing probe, and when it was first seen (monotonic). */
  #seen: (Probe & { readonly since: number }) | undefined;

  constructor(parts: ProbeParts) {
    this.#parts = parts;
  }

  /** Whether a probe may be under way. Its lease is timed from when it was seen: clocks of machines may differ. */
  stands({ probe }: Circuit, leaseMs: number): boolean {
    if (!probe) return false;
    const { clock } = this.#parts;
    const seen = this.#seen;
    if (!seen || !isSame(seen, probe)) {
      this.#seen = { ...probe, since: clock.monotonic() };
      return true;
    }
    return clock.monotonic() - seen.since < leaseMs;
  }

  /** Claims a probe for an event, in place of a lost one; null where another worker was first. */
  async claim(circuit: Circuit, eventId: string, leaseMs: number): Promise<Probe | null> {
    const at = timestampNow(this.#parts.clock);
    const leaseUntil = timestamp(millis(at) + leaseMs);
    const lost = circuit.probe;
    const claimed = await this.#change(circuit, eventId, { type: "ClaimProbe", eventId, leaseUntil, lost, at });
    return claimed ? { eventId, leaseUntil } : null;
  }

  release(circuit: Circuit, probe: Probe): Promise<boolean> {
    const at = timestampNow(this.#parts.clock);
    return this.#change(circuit, probe.eventId, { type: "ReleaseProbe", probe, at });
  }

  /** Call when no event is held: an open circuit becomes half-open. Also releases a lost probe: nothing else would. */
  async idle(circuit: Circuit): Promise<boolean> {
    if (circuit.position !== "Open") return circuit.probe !== null && this.release(circuit, circuit.probe);
    const at = timestampNow(this.#parts.clock);
    return this.#change(circuit, circuit.destinationId, { type: "HalfOpen", lost: circuit.probe, at });
  }

  async #change(circuit: Circuit, correlationId: string, change: CircuitCommand): Promise<boolean> {
    const origin = originOf({ correlationId, causationId: null }, this.#parts.workerId);
    return changeCircuit(this.#parts, circuit, origin, change);
  }
}
