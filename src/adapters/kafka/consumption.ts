import type { Clock } from "../../ports/clock.ts";
import type { Logger } from "../../ports/telemetry.ts";
import type { WorkConsumer } from "../../ports/work-queue.ts";
import { Membership, type MembershipParts } from "./membership.ts";

const againAfterMs = 500;

/** Keeps this process a member of the group: a membership that ends for whatever reason is followed by another. */
export class Consumption {
  readonly #parts: MembershipParts;
  readonly #ready: () => Promise<unknown>;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #consumer: WorkConsumer;
  #membership: Membership | undefined;
  readonly #stop = new AbortController();
  #troubled = false;
  readonly #running: Promise<void>;

  /** `ready` resolves when the topic exists. */
  constructor(parts: MembershipParts, ready: () => Promise<unknown>, consumer: WorkConsumer) {
    this.#parts = parts;
    this.#ready = ready;
    this.#clock = parts.clock;
    this.#logger = parts.logger;
    this.#consumer = consumer;
    this.#running = this.#run();
  }

  /** Takes nothing more; resolves when the group knows, or after a bounded wait. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#membership?.leave();
    await this.#running;
  }

  async #run(): Promise<void> {
    for (;;) {
      const reason = await this.#live();
      if (this.#stop.signal.aborted) return;
      // Said once for each outage, not for each try.
      const level = this.#troubled ? "debug" : "warn";
      this.#logger[level]({ err: reason }, "work queue: membership lost, joining again");
      this.#troubled = true;
      await this.#pause();
    }
  }

  async #live(): Promise<unknown> {
    try {
      await this.#ready();
    } catch (error) {
      return error;
    }
    if (this.#stop.signal.aborted) return undefined;
    const membership = new Membership(this.#parts, this.#consumer);
    this.#membership = membership;
    const reason = await membership.live();
    if (membership.joined) this.#troubled = false;
    return reason;
  }

  #pause(): Promise<void> {
    return new Promise((resolve) => {
      const timer = this.#clock.schedule(againAfterMs, resolve);
      this.#stop.signal.addEventListener("abort", () => {
        timer.cancel();
        resolve();
      });
    });
  }
}
