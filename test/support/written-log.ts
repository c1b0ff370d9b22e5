import { isPosition } from "../../packages/embedded-engine/src/index.ts";
import type { Unreadable } from "../../src/kernel/ports/event-codec.ts";
import {
  timesOf, type BatchHandler, type EventLog, type LogEntry, type Position, type ReadOptions, type Subscription,
  type SubscriptionOptions,
} from "../../src/kernel/ports/event-store.ts";
import type { Told } from "./chronicle.ts";
import { Followers } from "./followers.ts";
import { position } from "./position.ts";
import { metadata } from "./recorded.ts";

/** A log that a test writes entry by entry, readable or not, and whose reads it may make fail. */
export class WrittenLog implements EventLog {
  readonly entries: LogEntry[] = [];
  /** Subscriptions do not fail with {@link readLog}. */
  readonly #followers = new Followers(async (after, limit) => this.#after(after, limit));
  /** The revisions at which streams begin of which something was deleted. */
  readonly #begins = new Map<string, number>();
  /** Facts of a newer release, by their place in the log. */
  readonly #newer = new Map<number, LogEntry>();
  failing = 0;

  write(told: readonly Told[], unreadable?: string): void {
    this.#write(told, unreadable === undefined ? undefined : { unreadable, newer: false });
  }

  /** Writes facts that cannot be read before the {@link upgrade}. */
  writeNewer(told: readonly Told[], unreadable = "unknown version 2"): void {
    this.#write(told, { unreadable, newer: true });
  }

  /** From now on facts of the newer release can be read, or those of some types. */
  upgrade(isMeant: (type: string) => boolean = () => true): void {
    for (const [at, entry] of this.#newer) {
      if (!isMeant(entry.type)) continue;
      this.entries[at] = entry;
      this.#newer.delete(at);
    }
  }

  #write(told: readonly Told[], flaw: Unreadable | undefined): void {
    for (const { stream, fact } of told) {
      const revision = this.entries.filter((entry) => entry.stream === stream).length;
      const id = `00000000-0000-7000-8000-${`${this.entries.length}`.padStart(12, "0")}`;
      const head = { stream, revision, position: position(this.entries.length + 1), id };
      const { type, data } = fact;
      const entry = { ...head, type, data, metadata };
      if (flaw?.newer) this.#newer.set(this.entries.length, entry);
      this.entries.push(flaw ? { ...head, type, ...flaw } : entry);
    }
    this.#followers.wake();
  }

  /** Deletes a stream's entries like an engine that still gives them to readers of the whole log. */
  delete(stream: string): void {
    this.#begins.set(stream, this.entries.filter((entry) => entry.stream === stream).length);
  }

  async deleteStream(stream: string): Promise<void> {
    this.delete(stream);
  }

  async readLog(after: Position, limit: number) {
    if (this.failing > 0) {
      this.failing -= 1;
      throw new Error("the log is down");
    }
    return this.#after(after, limit);
  }

  async readTimes(after: Position, limit: number) {
    const { entries, upTo } = await this.readLog(after, limit);
    return { times: timesOf(entries), upTo };
  }

  async head(): Promise<Position> {
    return position(this.entries.length);
  }

  end(): Promise<Position> {
    return this.head();
  }

  isPosition(text: string): boolean {
    return isPosition(text);
  }

  async readStream(stream: string, { from = 0, limit = Infinity }: Pick<ReadOptions, "from" | "limit"> = {}) {
    const first = Math.max(from, this.#begins.get(stream) ?? 0);
    return this.entries.filter((entry) => entry.stream === stream && entry.revision >= first).slice(0, limit);
  }

  subscribe(options: SubscriptionOptions, handle: BatchHandler): Subscription {
    return this.#followers.subscribe(options, handle);
  }

  #after(after: Position, limit: number) {
    const entries = this.entries.slice(Number(after), Number(after) + limit);
    return { entries, upTo: entries.at(-1)?.position ?? after };
  }
}
