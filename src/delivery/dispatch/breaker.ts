import CircuitBreaker from "opossum";
import { mayProbe, type Circuit } from "../../features/circuits/facts.ts";
import type { Timestamp } from "../../kernel/domain/time.ts";
import type { Ended } from "./work.ts";

type Task = () => Promise<Ended>;

class NotDelivered extends Error {
  readonly ended: Ended;

  constructor(ended: Ended) {
    super();
    this.ended = ended;
  }
}

/** The statistics of all breakers of the process. Nobody reads them; separate ones would cost each breaker a timer. */
let counts: CircuitBreaker.Status | undefined;

const halfOpen = {
  name: "", enabled: true, closed: false, open: false, halfOpen: true, warmUp: false, shutdown: false,
} as CircuitBreaker.State;

/** The circuit breaker of one destination. The log opens and closes it; opossum neither counts nor times. */
export class Breaker {
  #breaker = madeBreaker();

  /** Takes over the circuit's position from the log. A probe under way goes on. */
  follow(circuit: Circuit, now: () => Timestamp): void {
    if (circuit.position === "Closed") this.#breaker.close();
    else if (!mayProbe(circuit, now())) this.#breaker.open();
    else if (!this.#breaker.halfOpen) {
      // A new breaker: attempts admitted before the circuit opened must not close it.
      this.drop();
      this.#breaker = madeBreaker(halfOpen);
    }
  }

  get closed(): boolean {
    return this.#breaker.closed;
  }

  get probing(): boolean {
    return this.#breaker.halfOpen && !this.#breaker.pendingClose;
  }

  get admits(): boolean {
    return this.closed || this.#breaker.pendingClose;
  }

  /**
   * Runs a task at once, unless not {@link admits admitted}. A probe closes the breaker if it delivered, or opens it.
   */
  async fire(task: Task): Promise<Ended> {
    try {
      return await this.#breaker.fire(task);
    } catch (error) {
      if (error instanceof NotDelivered) return error.ended;
      throw error;
    }
  }

  /** Gives up the timer that opossum keeps for an open breaker. It is not to be used any more. */
  drop(): void {
    this.#breaker.close();
  }
}

function madeBreaker(state?: CircuitBreaker.State): CircuitBreaker<[task: Task], Ended> {
  counts ??= CircuitBreaker.newStatus({
    rollingCountTimeout: 5_000, rollingCountBuckets: 1, rollingPercentilesEnabled: false, enableSnapshots: false,
  });
  return new CircuitBreaker(
    async (task: Task) => {
      const ended = await task();
      if (ended !== "delivered") throw new NotDelivered(ended);
      return ended;
    },
    {
      status: counts, timeout: false, resetTimeout: 2 ** 31 - 1, volumeThreshold: Number.MAX_SAFE_INTEGER,
      rollingPercentilesEnabled: false, ...(state && { state }),
    },
  );
}
