import { setTimeout as pause } from "node:timers/promises";
import type { ServiceError } from "@grpc/grpc-js";

/** Faults that tests in the server's own process cause. */
export class Faults {
  /** An append that was refused as bad is answered once more after this. */
  lateReplyMs = 2000;
  /** An append is refused after this while an identical one is in flight. */
  identicalMs = 2100;
  /** A live subscription whose client takes nothing for so long is cut off, by the releases that do so. */
  slowConsumerMs = 2000;
  /** A deleted stream that began again is found by readers only after this. */
  reappearingMs = 5;
  /** The error of every read; undefined for none. */
  refusedReads: Partial<ServiceError> | undefined;
  /** Events that were sent to subscriptions to $all. */
  followed = 0;
  readonly #inFlight = new Set<string>();
  #appends = 0;
  #dropReplies = 0;
  #delayMs = 0;
  #generation = 0;
  #thawed: Promise<void> | undefined;
  #thaw: () => void = () => undefined;

  /** Appends received, with any outcome. */
  get appends(): number {
    return this.#appends;
  }

  /** The next `count` appends are committed and never answered. */
  dropReplies(count: number): void {
    this.#dropReplies = count;
  }

  /** Every append is answered this much later. */
  slowDown(delayMs: number): void {
    this.#delayMs = delayMs;
  }

  /** Running subscriptions get nothing any more, though their connections live. */
  muteSubscriptions(): void {
    this.#generation += 1;
  }

  /** Changes whenever the subscriptions of that time are muted. */
  get generation(): number {
    return this.#generation;
  }

  /** No request is processed or answered until `thaw`. */
  freeze(): void {
    this.#thawed ??= new Promise((resolve) => {
      this.#thaw = resolve;
    });
  }

  thaw(): void {
    this.#thaw();
    this.#thawed = undefined;
  }

  /** Resolves when nothing is frozen; undefined when nothing is. */
  get frozen(): Promise<void> | undefined {
    return this.#thawed;
  }

  /**
   * Commits an append and sends its reply as the faults allow; at once when there are none. `identity` says which
   * appends are identical: of those in flight one is committed, the others are answered by `refuse` after a while.
   */
  async onAppend<Reply>(
    identity: string, commit: () => Reply, refuse: () => Reply, send: (reply: Reply) => void,
  ): Promise<void> {
    this.#appends += 1;
    if (this.#inFlight.has(identity)) {
      await pause(this.identicalMs, undefined, { ref: false });
      send(refuse());
      return;
    }
    this.#inFlight.add(identity);
    try {
      await this.#answer(commit, send);
    } finally {
      setImmediate(() => this.#inFlight.delete(identity));
    }
  }

  async #answer<Reply>(commit: () => Reply, send: (reply: Reply) => void): Promise<void> {
    if (this.#thawed) await this.#thawed;
    const reply = commit();
    if (this.#dropReplies > 0) {
      this.#dropReplies -= 1;
      return;
    }
    if (this.#delayMs > 0) await pause(this.#delayMs);
    if (this.#thawed) await this.#thawed;
    send(reply);
  }
}
