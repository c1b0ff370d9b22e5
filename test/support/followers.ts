import {
  isWanted, type BatchHandler, type EventLog, type Position, type Subscription, type SubscriptionOptions,
} from "../../src/kernel/ports/event-store.ts";

const batchSize = 1_000;

/** The subscriptions to a log in memory. */
export class Followers {
  readonly #read: EventLog["readLog"];
  readonly #wakes = new Set<() => void>();

  /** `read` is asked for entries after a position, as of {@link EventLog}. */
  constructor(read: EventLog["readLog"]) {
    this.#read = read;
  }

  /** To be called when the log has grown. */
  wake(): void {
    for (const wake of this.#wakes) wake();
  }

  /** As {@link EventLog} has it. */
  subscribe({ after, ...wanted }: SubscriptionOptions, handle: BatchHandler): Subscription {
    let position: Position = after;
    let running = Promise.resolve();
    const run = async () => {
      while (this.#wakes.has(wake)) {
        const { entries, upTo } = await this.#read(position, batchSize);
        if (upTo === position) return;
        await handle(entries.filter((entry) => isWanted(entry, wanted)), upTo);
        position = upTo;
      }
    };
    const wake = () => {
      running = running.then(run);
    };
    this.#wakes.add(wake);
    wake();
    return {
      stop: async () => {
        this.#wakes.delete(wake);
        await running;
      },
    };
  }
}
