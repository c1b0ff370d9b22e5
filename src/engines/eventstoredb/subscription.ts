import { Pause } from "../../kernel/ports/clock/pause.ts";
import {
  isWanted, type BatchHandler, type Position, type Subscription, type SubscriptionOptions,
} from "../../kernel/ports/event-store.ts";
import { isTooSlow } from "./failures.ts";
import { Feed, type Batch, type SubscriptionContext } from "./feed.ts";
import { ownCategories } from "./records.ts";
import type { Filter } from "./requests.ts";
import type { Tuning } from "./tuning.ts";

/** Follows $all from where its handler is, over one call after another. */
export class LogSubscription implements Subscription {
  readonly #context: SubscriptionContext;
  readonly #options: SubscriptionOptions;
  readonly #handle: BatchHandler;
  readonly #pause: Pause;
  readonly #ended: Promise<void>;
  /** Everything up to here was handled. */
  #handled: Position;
  #feed: Feed | undefined;
  #stopped = false;

  constructor(context: SubscriptionContext, options: SubscriptionOptions, handle: BatchHandler) {
    this.#context = context;
    this.#pause = new Pause(context.clock);
    this.#options = options;
    this.#handle = handle;
    this.#handled = options.after;
    this.#ended = this.#run();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#pause.end();
    this.#feed?.close();
    await this.#ended;
  }

  async #run(): Promise<void> {
    for (let failures = 0; !this.#stopped;) {
      let isMoving = false;
      try {
        const options = this.#options;
        const filter = filterOf(options, this.#context.tuning);
        const feed = new Feed(this.#context, this.#handled, filter, (record) => isWanted(record, options));
        this.#feed = feed;
        for (let batch = await feed.next(); batch && !this.#isStopped(); batch = await feed.next()) {
          failures = 0;
          isMoving = true;
          await this.#take(batch);
        }
      } catch (error) {
        // A subscription that is cut off repeatedly before its first batch must not subscribe without a pause.
        if (isMoving && isTooSlow(error)) continue;
        this.#context.onAnomaly(error);
        await this.#rest(failures++);
      } finally {
        this.#feed?.close();
      }
    }
  }

  /** Resolves when the handler has taken the batch, after any number of tries, or when the subscription is stopped. */
  async #take({ entries, upTo }: Batch): Promise<void> {
    for (let failures = 0; !this.#stopped;) {
      try {
        await this.#handle(entries, upTo);
        this.#handled = upTo;
        return;
      } catch (error) {
        this.#context.onAnomaly(error);
        await this.#rest(failures++);
      }
    }
  }

  // The type checker assumes that a field keeps the value it was read with.
  #isStopped(): boolean {
    return this.#stopped;
  }

  async #rest(failures: number): Promise<void> {
    const { firstPauseMs, longestPauseMs } = this.#context.tuning;
    if (!this.#stopped) await this.#pause.wait(Math.min(firstPauseMs * 2 ** failures, longestPauseMs));
  }
}

/**
 * The filter that the server can apply, by prefix: types if given, else categories, else those of the service; other
 * applications' entries stay on the server. The rest is filtered here.
 */
function filterOf(
  { categories = [], types = [], prompt = false }: SubscriptionOptions, { promptWindow, searchWindow }: Tuning,
): Filter {
  const window = prompt ? promptWindow : searchWindow;
  if (types.length > 0) return { by: "type", prefixes: types, window };
  return { by: "stream", prefixes: categories.length > 0 ? categories : [...ownCategories], window };
}
