import type { QueueSession, WorkConsumer, WorkItem, WorkQueue } from "../../../../src/kernel/ports/work-queue.ts";

/** A work queue within one process: items go to the consumer and are not stored. Lost items are in the due index. */
export class EmbeddedQueue implements WorkQueue {
  #consuming: { readonly consumer: WorkConsumer; readonly session: QueueSession } | undefined;

  async publish(items: readonly WorkItem[]): Promise<void> {
    this.#consuming?.consumer.take(items, this.#consuming.session);
  }

  async consume(consumer: WorkConsumer): Promise<{ stop(): Promise<void> }> {
    const session = { alive: true };
    this.#consuming = { consumer, session };
    return {
      stop: async () => {
        session.alive = false;
        if (this.#consuming?.session === session) this.#consuming = undefined;
        consumer.reassign(() => true, session);
      },
    };
  }
}
