import { setTimeout as pause } from "node:timers/promises";
import { chanceFrom } from "./chance.ts";
import type { Acknowledgement, Ledger } from "./ledger.ts";
import type { Account } from "./relay.ts";

const usualAnswerMs = 5_000;
const pauseWhenRefusedMs = 50;

/** Where producers post to. */
export interface Target {
  readonly account: Account;
  readonly ingest: string;
}

/** A relay, or several processes of one, as producers see it. */
export interface Reachable {
  /** Where to post now. */
  readonly url: string;
  /** Whether it will never be available again. */
  readonly closed: boolean;
  /** Resolves when it is available. */
  ready(): Promise<void>;
}

export interface LoadOptions {
  readonly producers: number;
  /** Between an answer and the next request of a producer, ms. */
  readonly pauseMs: number;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  /** How long a producer waits for an answer, ms. */
  readonly answerMs?: number;
}

/** Chance for this run, by a seed that is printed: `RELAY_TEST_SEED`, or a fresh one. */
export function randomOfRun(): () => number {
  const seed = Number(process.env["RELAY_TEST_SEED"] ?? Date.now() % 2 ** 31);
  console.log(`      RELAY_TEST_SEED=${seed}`);
  return chanceFrom(seed);
}

/**
 * Producers as they should be: each event has an idempotency key and is posted again, through crashes and
 * restarts, until it is answered. The outcomes go into the ledger.
 */
export class Producers {
  readonly #relay: Reachable;
  readonly #ledger: Ledger;
  readonly #targets: readonly Target[];
  readonly #options: LoadOptions;
  readonly #running: Promise<void>[] = [];
  #stopped = false;
  #slowestMs = 0;

  constructor(relay: Reachable, ledger: Ledger, targets: readonly Target[], options: LoadOptions) {
    this.#relay = relay;
    this.#ledger = ledger;
    this.#targets = targets;
    this.#options = options;
  }

  start(): this {
    const { producers } = this.#options;
    for (let producer = 0; producer < producers; producer += 1) {
      const running = this.#produce();
      // stop() rejects with the error. Unhandled, where a test failed before its stop(), it would fail the next test.
      running.catch((error: unknown) => console.log(`      a producer gave up: ${String(error)}`));
      this.#running.push(running);
    }
    return this;
  }

  /** The longest that an event took from its first request until it was acknowledged, ms. */
  get slowestMs(): number {
    return this.#slowestMs;
  }

  /** Resolves when every event begun is answered, for which the relay must be up; rejects when a producer gave up. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await Promise.all(this.#running);
  }

  async #produce(): Promise<void> {
    const { random, pauseMs } = this.#options;
    while (!this.#stopped && !this.#relay.closed) {
      const target = this.#targets[Math.floor(random() * this.#targets.length)];
      if (target) await this.post(target);
      await pause(pauseMs);
    }
  }

  /** Posts one event or message until it is answered; resolves to its id, or to undefined where it was refused. */
  async post({ account, ingest }: Target): Promise<string | undefined> {
    const { answerMs = usualAnswerMs } = this.#options;
    const key = this.#ledger.newKey();
    const startedAt = performance.now();
    const body = JSON.stringify({ key, text: "x".repeat(200) });
    while (!this.#relay.closed) {
      await this.#relay.ready();
      const answer = await fetch(this.#relay.url + ingest, {
        method: "POST",
        headers: { ...account.producer.headers, "content-type": "application/json", "x-idempotency-key": key },
        body,
        signal: AbortSignal.timeout(answerMs),
      }).then(async (response) => ({ status: response.status, text: await response.text() })).catch(() => undefined);
      if (answer?.status === 202 || answer?.status === 200) {
        const { eventId, deliveries } = JSON.parse(answer.text) as Pick<Acknowledgement, "eventId" | "deliveries">;
        this.#ledger.acknowledged({ key, eventId, deliveries, body, status: answer.status, account });
        this.#slowestMs = Math.max(this.#slowestMs, performance.now() - startedAt);
        return eventId;
      }
      if (answer?.status === 422) {
        this.#ledger.refused(key);
        await pause(pauseWhenRefusedMs);
        return undefined;
      }
      this.#ledger.unanswered(answer);
      // A process that is about to end may still have its port.
      await pause(10);
    }
    return undefined;
  }
}
