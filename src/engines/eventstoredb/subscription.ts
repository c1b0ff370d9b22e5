import { Pause } from "../../kernel/ports/clock.ts";
import {
  isWanted, type BatchHandler, type Position, type Subscription, type SubscriptionOptions,
} from "../../kernel/ports/event-store.ts";
import { isTooSlow } from "./failures.ts";
import { Feed, type Batch, type SubscriptionContext } from "./feed.ts";
import { ownCategories } from "./records.ts";
import type { Filter } from "./requests.ts";
import type { Tuning } from "./tuning.ts";

/** Follows $all from the handler's position, over one call after another. */
export class LogSubscription implements Subscription {
  readonly #context: SubscriptionContext;
  readonly #options: SubscriptionOptions;
  readonly #handle: BatchHandler;
  readonly #pause: Pause;
  readonly #ended: Promise<void>;
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
        // Without a batch in between, a pause keeps repeated cut-offs from causing a loop.
        if (isMoving && isTooSlow(error)) continue;
        this.#context.onAnomaly(error);
        await this.#rest(failures++);
      } finally {
        this.#feed?.close();
      }
    }
  }

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
