import { EventStoreDBClient } from "@eventstore/db-client";
import { expect } from "chai";
import { EventStoreDb } from "../../../src/engines/eventstoredb/event-store-db.ts";
import type { Tuning } from "../../../src/engines/eventstoredb/tuning.ts";
import { SystemClock } from "../../../src/engines/system/system-clock.ts";
import type { Clock } from "../../../src/kernel/ports/clock.ts";
import type { EventCodec } from "../../../src/kernel/ports/event-codec.ts";
import {
  LogUnavailable, type LogEntry, type Position, type SubscriptionOptions,
} from "../../../src/kernel/ports/event-store.ts";
import { until } from "../../contract/event-store/harness.ts";
import { namedEventStoreDb } from "../../support/engines/eventstoredb.ts";
import type { Release } from "../../support/eventstoredb-server/release.ts";
import { EventStoreDbServer } from "../../support/eventstoredb-server/server.ts";
import { plainCodec } from "../../support/plain-codec.ts";

/** Short times, so that tests of outages are quick. */
export const quick: Partial<Tuning> = {
  appendMs: 5000, readMs: 1000, stallMs: 150, pingMs: 300, firstPauseMs: 10, longestPauseMs: 50, idleMs: 60,
  behindMs: 20,
};

interface ClientOptions {
  /** The server's address when left out. */
  readonly url?: string;
  readonly tuning?: Partial<Tuning>;
  readonly codec?: EventCodec;
  readonly clock?: Clock;
}

/** Clients of a server, and the anomalies that they reported. */
export class Bench {
  readonly url: string;
  readonly anomalies: unknown[] = [];
  readonly #clients: EventStoreDb[] = [];
  readonly #officials: EventStoreDBClient[] = [];

  /** On the server that the environment names, else on one in this process. */
  static async onAnyServer(): Promise<Bench> {
    const named = namedEventStoreDb();
    return named ? new Bench(named.url) : OwnBench.start();
  }

  protected constructor(url: string) {
    this.url = url;
  }

  async client(
    { url = this.url, tuning = {}, codec = plainCodec, clock = new SystemClock() }: ClientOptions = {},
  ): Promise<EventStoreDb> {
    const client = new EventStoreDb({
      url, codec, clock, tuning: { ...quick, ...tuning },
      onAnomaly: (error) => this.anomalies.push(error),
    });
    this.#clients.push(client);
    return client;
  }

  /** A client of the library itself: another application on the same server. */
  stranger(): EventStoreDBClient {
    const client = EventStoreDBClient.connectionString(this.url);
    this.#officials.push(client);
    return client;
  }

  async stop(): Promise<void> {
    await Promise.all(this.#clients.map((client) => client.close()));
    await Promise.all(this.#officials.map((client) => client.dispose()));
  }
}

/** On a server in this process, which fails as a test asks. */
export class OwnBench extends Bench {
  readonly server: EventStoreDbServer;

  static async start(release: Release = "23.10"): Promise<OwnBench> {
    return new OwnBench(await EventStoreDbServer.start({ release }));
  }

  private constructor(server: EventStoreDbServer) {
    super(server.url);
    this.server = server;
  }

  override async stop(): Promise<void> {
    this.server.faults.thaw();
    await super.stop();
    await this.server.close();
  }
}

/** A subscription that keeps the batches that it received. */
export class Recorder {
  readonly batches: { readonly entries: readonly LogEntry[]; readonly upTo: Position }[] = [];
  readonly stop: () => Promise<void>;
  readonly #after: Position;

  constructor(store: EventStoreDb, options: SubscriptionOptions, slow: () => Promise<unknown> = async () => undefined) {
    this.#after = options.after;
    const subscription = store.subscribe(options, async (entries, upTo) => {
      await slow();
      this.batches.push({ entries, upTo });
    });
    this.stop = () => subscription.stop();
  }

  get entries(): LogEntry[] {
    return this.batches.flatMap(({ entries }) => entries);
  }

  get upTo(): Position {
    return this.batches.at(-1)?.upTo ?? this.#after;
  }

  reaches(position: Position): Promise<void> {
    return until(`a subscription reaches ${position}`, () => this.upTo >= position);
  }
}

/** Asks until the server answers within the short timeout of its client; every failure must be LogUnavailable. */
export async function untilAnswered<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
  const answers: Answer[] = [];
  await until("there is an answer", async () => {
    await ask().then((answer) => answers.push(answer), (error: unknown) => {
      expect(error).to.be.instanceOf(LogUnavailable);
    });
    return answers.length > 0;
  });
  return answers[0]!;
}
