import type { RecordedEvent } from "../../src/kernel/ports/event-store.ts";
import { hold } from "./broken.ts";

/** How many events each request had replayed and cancelled, by its correlation id. */
export class Acts {
  readonly #acts = new Map<string, { replays: number; cancellations: number }>();

  of({ correlationId }: RecordedEvent["metadata"]): { replays: number; cancellations: number } {
    if (!this.#acts.has(correlationId)) this.#acts.set(correlationId, { replays: 0, cancellations: 0 });
    return this.#acts.get(correlationId)!;
  }

  /** A request that acts on many events may report fewer than it did: the answer to an append may be lost. */
  reported({ type, data, metadata: { correlationId } }: RecordedEvent): void {
    const { replayed = 0, cancelled = 0 } = data as { readonly replayed?: number; readonly cancelled?: number };
    const { replays = 0, cancellations = 0 } = this.#acts.get(correlationId) ?? {};
    const what = () => `${type}: ${replayed} of ${replays}, ${cancelled} of ${cancellations}`;
    hold(replayed <= replays, "a bulk replay reports no more than it replayed", what);
    hold(cancelled <= cancellations, "a bulk cancellation reports no more than it cancelled", what);
  }
}
