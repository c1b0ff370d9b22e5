import type { QueueSession, WorkConsumer, WorkItem, WorkQueue } from "../../ports/work-queue.ts";

/**
 * The work queue of one process: items go straight to the consumer and are stored nowhere. What no consumer took is
 * found in the due index, like all work.
 */
export class EmbeddedQueue implements WorkQueue {
  #consumer: WorkConsumer | undefined;
  #session: { alive: boolean } | undefined;

  async publish(items: readonly WorkItem[]): Promise<void> {
    if (this.#consumer && this.#session) this.#consumer.take(items, this.#session satisfies QueueSession);
  }

  async consume(consumer: WorkConsumer): Promise<{ stop(): Promise<void> }> {
    const session = { alive: true };
    this.#consumer = consumer;
    this.#session = session;
    return {
      stop: async () => {
        session.alive = false;
        if (this.#consumer === consumer) this.#consumer = undefined;
        consumer.reassign(() => true, session);
      },
    };
  }
}
