import { categoryOf } from "../../src/domain/streams.ts";
import type {
  BatchHandler, EventLog, LogEntry, Position, Subscription, SubscriptionOptions,
} from "../../src/ports/event-store.ts";
import type { Told } from "./histories.ts";

/** The place of the n-th entry; of 0, before all. */
export const position = (n: number): Position => (n === 0 ? "" : String(n).padStart(16, "0"));

/** A log that a test writes entry by entry, readable or not, and may tear off. */
export class WrittenLog implements EventLog {
  readonly entries: LogEntry[] = [];
  readonly #followers = new Set<() => void>();
  failing = 0;

  write(told: readonly Told[], unreadable?: string): void {
    for (const { stream, fact } of told) {
      const revision = this.entries.filter((entry) => entry.stream === stream).length;
      const head = { stream, revision, position: position(this.entries.length + 1), id: `${this.entries.length}` };
      const metadata = { actor: { type: "anonymous" }, correlationId: "", causationId: null, at: "" } as const;
      const { type, data } = fact;
      this.entries.push(unreadable === undefined ? { ...head, type, data, metadata } : { ...head, type, unreadable });
    }
    for (const follow of this.#followers) follow();
  }

  async readLog(after: Position, limit: number) {
    if (this.failing > 0) {
      this.failing -= 1;
      throw new Error("the log is down");
    }
    const entries = this.entries.slice(Number(after), Number(after) + limit);
    return { entries, upTo: entries.at(-1)?.position ?? after };
  }

  async head(): Promise<Position> {
    return position(this.entries.length);
  }

  async readStream(stream: string, { limit = Infinity }: { readonly limit?: number } = {}) {
    return this.entries.filter((entry) => entry.stream === stream).slice(0, limit);
  }

  subscribe({ after, categories }: SubscriptionOptions, handle: BatchHandler): Subscription {
    let done = Number(after);
    let running = Promise.resolve();
    const run = async () => {
      while (done < this.entries.length && this.#followers.has(follow)) {
        const batch = this.entries.slice(done);
        const wanted = batch.filter(({ stream }) => !categories || categories.includes(categoryOf(stream)));
        await handle(wanted, batch.at(-1)!.position);
        done += batch.length;
      }
    };
    const follow = () => {
      running = running.then(run);
    };
    this.#followers.add(follow);
    follow();
    return {
      stop: async () => {
        this.#followers.delete(follow);
        await running;
      },
    };
  }
}
