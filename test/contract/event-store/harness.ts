import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { expect } from "chai";
import type { streams } from "../../../src/kernel/domain/streams.ts";
import {
  noStream, type Appended, type EventStore, type LogEntry, type NewEntry, type Position, type Subscription,
  type SubscriptionOptions,
} from "../../../src/kernel/ports/event-store.ts";
import { salt } from "../../support/recorded.ts";

/**
 * An engine to be tested. Its clients use the plain codec of the test support. The engine may be slow, may be
 * shared with others, and may hold anything already.
 */
export interface EventStoreUnderTest {
  /** Another client of the same engine at each call. */
  store(): Promise<EventStore>;
  /** Writes one entry that the codec cannot read at the stream's expected revision, bypassing the port. */
  plantUnreadable(stream: string, expected: number): Promise<void>;
  /** Restarts the engine on the same data and returns a client; earlier clients must not be used any more. */
  reopen?(): Promise<EventStore>;
  /** Makes the engine unreachable, and reachable again; clients stay usable. */
  outage?: {
    begin(): Promise<void>;
    end(): Promise<void>;
  };
  /** Releases all resources. */
  dispose(): Promise<void>;
}

const patienceMs = 45_000;

/** The operations that tests can do to an engine, by the names of its methods. */
export interface EventStoreCapabilities {
  readonly reopen: boolean;
  readonly outage: boolean;
}

/** Resolves once the condition holds; rejects with its description after a timeout. */
export async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  const end = performance.now() + patienceMs;
  while (!(await holds())) {
    if (performance.now() > end) throw new Error(`waited in vain until ${what}`);
    await pause(2);
  }
}

/** A stream of its own, of a category of the service. */
export function freshStream(category: keyof typeof streams = "event"): string {
  return `${category}-${randomUUID()}`;
}

/** An entry with the text `text`. */
export function note(text: string, id: string = randomUUID(), type = "NoteTaken"): NewEntry {
  return {
    id,
    event: { type, data: { text, number: 1.5, nested: { list: [null, "é€😀", ""] } } },
    metadata: {
      actor: { type: "apiKey", id: "0193a1b2-0000-7000-8000-000000000001" },
      correlationId: randomUUID(), causationId: null, at: "2025-01-02T03:04:05.678Z", salt,
    },
  };
}

/** The reason of a rejection; fails when there is none. */
export async function failureOf(promise: Promise<unknown>): Promise<Error> {
  return promise.then(
    () => expect.fail("should have been rejected"),
    (error: Error) => error,
  );
}

/** The text of an entry made by {@link note}. */
export function textOf(entry: LogEntry): string {
  return entry.unreadable === undefined ? (entry.data as { text: string }).text : "unreadable";
}

/** The texts of entries made by {@link note}. */
export function texts(entries: readonly LogEntry[]): string[] {
  return entries.map(textOf);
}

/** Follows the log and keeps the entries of the given streams. */
export class LogTail {
  readonly seen: LogEntry[] = [];
  readonly upTos: Position[] = [];
  readonly #streams: ReadonlySet<string>;
  readonly #subscription: Subscription;

  constructor(store: EventStore, options: SubscriptionOptions, streams: Iterable<string>, pauseMs?: () => number) {
    this.#streams = new Set(streams);
    this.#subscription = store.subscribe(options, async (entries, upTo) => {
      if (pauseMs) await pause(pauseMs());
      this.seen.push(...entries.filter(({ stream }) => this.#streams.has(stream)));
      this.upTos.push(upTo);
    });
  }

  get upTo(): Position {
    return this.upTos.at(-1) ?? "";
  }

  /** Resolves when the subscription has reached the position. */
  reaches(position: Position): Promise<void> {
    return until(`a subscription reaches ${position}`, () => this.upTo >= position);
  }

  sees(count: number): Promise<void> {
    return until(`a subscription sees ${count} entries`, () => this.seen.length >= count);
  }

  stop(): Promise<void> {
    return this.#subscription.stop();
  }
}

/** Fails unless positions go up. */
export function expectOrdered(entries: readonly LogEntry[]): void {
  for (let at = 1; at < entries.length; at++) {
    expect(entries[at]!.position > entries[at - 1]!.position, "positions go up").to.equal(true);
  }
}

/** Shared by the parts of the suite: the engine, a client, and its subscriptions. */
export class Bench {
  readonly engine: EventStoreUnderTest;
  /** The client of the tests; replaced when the engine is restarted. */
  store: EventStore;
  #followers: LogTail[] = [];

  constructor(engine: EventStoreUnderTest, store: EventStore) {
    this.engine = engine;
    this.store = store;
  }

  /** Follows until the test is over. */
  follow(options: SubscriptionOptions, streams: Iterable<string>, pauseMs?: () => number): LogTail {
    const follower = new LogTail(this.store, options, streams, pauseMs);
    this.#followers.push(follower);
    return follower;
  }

  /** Appends notes one after the other; returns the result of each append. */
  async write(stream: string, ...all: string[]): Promise<Appended[]> {
    const [newest] = await this.store.readStream(stream, { limit: 1, backwards: true });
    let revision = newest?.revision ?? noStream;
    const outcomes: Appended[] = [];
    for (const text of all) {
      const outcome = await this.store.append(stream, revision, [note(text)]);
      revision = outcome.revision;
      outcomes.push(outcome);
    }
    return outcomes;
  }

  async endTest(): Promise<void> {
    await Promise.all(this.#followers.map((follower) => follower.stop()));
    this.#followers = [];
  }
}
