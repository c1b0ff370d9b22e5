import { Pause } from "../../kernel/ports/clock.ts";
import type { WorkConsumer } from "../../kernel/ports/work-queue.ts";
import { Membership, type MembershipParts } from "./membership.ts";

const againAfterMs = 500;

/** Keeps this process a member of the group: a new membership follows each one that ends. */
export class Consumption {
  readonly #parts: MembershipParts;
  readonly #ready: () => Promise<unknown>;
  readonly #consumer: WorkConsumer;
  #membership: Membership | undefined;
  readonly #pause: Pause;
  #stopped = false;
  #troubled = false;
  readonly #running: Promise<void>;

  constructor(parts: MembershipParts, ready: () => Promise<unknown>, consumer: WorkConsumer) {
    this.#parts = parts;
    this.#ready = ready;
    this.#pause = new Pause(parts.clock);
    this.#consumer = consumer;
    this.#running = this.#run();
  }

  /** Stops taking items; resolves when the group knows, or after a bounded wait. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#pause.end();
    await this.#membership?.leave();
    await this.#running;
  }

  async #run(): Promise<void> {
    while (!this.#stopped) {
      const reason = await this.#live();
      if (this.#isStopped()) return;
      // Logged once per outage.
      const level = this.#troubled ? "debug" : "warn";
      this.#parts.logger[level]({ err: reason }, "work queue: membership lost, joining again");
      this.#troubled = true;
      await this.#pause.wait(againAfterMs);
    }
  }

  // Keeps the type checker from assuming an unchanged field.
  #isStopped(): boolean {
    return this.#stopped;
  }

  async #live(): Promise<unknown> {
    try {
      await this.#ready();
    } catch (error) {
      return error;
    }
    if (this.#stopped) return undefined;
    const membership = new Membership(this.#parts, this.#consumer);
    this.#membership = membership;
    const reason = await membership.live();
    if (membership.joined) this.#troubled = false;
    return reason;
  }
}
