import { Pause } from "../../kernel/ports/clock.ts";
import {
  isWanted, type Position, type Subscription, type SubscriptionOptions,
} from "../../kernel/ports/event-store.ts";
import { isTooSlow } from "./failures.ts";
import { Feed, type Batch, type SubscriptionContext } from "./feed.ts";
import { ownCategories } from "./records.ts";
import type { Filter } from "./requests.ts";
import type { Tail } from "./tail.ts";
import type { Tuning } from "./tuning.ts";

type Handle = (batch: Batch) => void | Promise<void>;

/** Follows $all from the handler's position: by calls of its own, and at the log's end by the {@link Tail}, if any. */
export class LogSubscription implements Subscription {
  readonly #context: SubscriptionContext;
  readonly #options: SubscriptionOptions;
  readonly #handle: Handle;
  readonly #tail: Tail | null;
  readonly #pause: Pause;
  readonly #ended: Promise<void>;
  #handled: Position;
  #feed: Feed | undefined;
  #stopped = false;

  constructor(context: SubscriptionContext, options: SubscriptionOptions, handle: Handle, tail: Tail | null) {
    this.#context = context;
    this.#pause = new Pause(context.clock);
    this.#options = options;
    this.#handle = handle;
    this.#tail = tail;
    this.#handled = options.after;
    tail?.join(options.after);
    this.#ended = this.#run();
  }

  async stop(): Promise<void> {
    if (!this.#stopped) {
      this.#stopped = true;
      this.#pause.end();
      this.#feed?.close();
      this.#tail?.wake();
      await this.#tail?.leave();
    }
    await this.#ended;
  }

  async #run(): Promise<void> {
    let isMoving = false;
    for (let failures = 0; !this.#stopped;) {
      try {
        const batch = await this.#next();
        if (!batch || this.#isStopped()) continue;
        failures = 0;
        isMoving = true;
        await this.#take(batch);
      } catch (error) {
        this.#endFeed();
        // Without a batch in between, a pause keeps repeated cut-offs from causing a loop.
        if (!isMoving || !isTooSlow(error)) {
          this.#context.onAnomaly(error);
          await this.#rest(failures++);
        }
        isMoving = false;
      }
    }
    this.#endFeed();
  }

  /** The next batch; undefined where it is to be asked for again. */
  #next(): Promise<Batch | undefined> {
    if (this.#tail?.holds(this.#handled)) {
      this.#endFeed();
      return this.#tail.next(this.#handled, this.#options);
    }
    const { tuning } = this.#context;
    this.#feed ??= new Feed(
      this.#context, this.#handled, filterOf(this.#options, tuning), (record) => isWanted(record, this.#options));
    return this.#feed.next();
  }

  #endFeed(): void {
    this.#feed?.close();
    this.#feed = undefined;
  }

  async #take(batch: Batch): Promise<void> {
    for (let failures = 0; !this.#stopped;) {
      try {
        await this.#handle(batch);
        this.#handled = batch.upTo;
        return;
      } catch (error) {
        this.#context.onAnomaly(error);
        await this.#rest(failures++);
      }
    }
  }

  // Keeps the type checker from assuming an unchanged field.
  #isStopped(): boolean {
    return this.#stopped;
  }

  async #rest(failures: number): Promise<void> {
    const { firstPauseMs, longestPauseMs } = this.#context.tuning;
    if (!this.#stopped) await this.#pause.wait(Math.min(firstPauseMs * 2 ** failures, longestPauseMs));
  }
}

/** The server filters by prefix: given types, else categories, else the service's own. The rest is filtered here. */
function filterOf(
  { categories = [], types = [], prompt = false }: SubscriptionOptions, { promptWindow, searchWindow }: Tuning,
): Filter {
  const window = prompt ? promptWindow : searchWindow;
  if (types.length > 0) return { by: "type", prefixes: types, window };
  return { by: "stream", prefixes: categories.length > 0 ? categories : [...ownCategories], window };
}
