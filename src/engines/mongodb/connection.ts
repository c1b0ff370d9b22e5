import { MongoClient, ReadPreference, type ClientSession, type Db } from "mongodb";
import { type Clock, late, within } from "../../kernel/ports/clock.ts";
import type { Logger } from "../../kernel/ports/telemetry.ts";

declare module "mongodb" {
  /** The driver honours it in every command; its types allow it in queries only, where it misses `create`. */
  interface CommandOperationOptions {
    signal?: AbortSignal | undefined;
  }
}

type Unavailable = new (message: string, options?: ErrorOptions) => Error;

/** Timeouts of queries, the projector's writes, and creating collections and indexes. */
export const patience = { questionMs: 2_000, writeMs: 10_000, schemaMs: 120_000, pingMs: 1_000 } as const;

/**
 * Without a heartbeat for `connectTimeoutMS` the monitor closes all connections, so this exceeds a busy server's
 * pauses. The socket's timeout is the longest.
 */
const options = {
  appName: "webhook-relay",
  connectTimeoutMS: 8_000,
  serverSelectionTimeoutMS: 1_500,
  waitQueueTimeoutMS: 1_500,
  heartbeatFrequencyMS: 2_000,
  socketTimeoutMS: patience.schemaMs,
  maxPoolSize: 50,
  writeConcern: { w: "majority", journal: true },
} as const;

const defaultDatabase = "relay";

/** A server outside a replica set has no transactions. */
export class StandaloneServer extends Error {
  override readonly name: string = "StandaloneServer";

  constructor() {
    super("RELAY_MONGODB_URL: the server has no transactions: start it as a replica set, of one node at least");
  }
}

/** A connection to one database, shared within a process. */
export class MongoConnection {
  readonly db: Db;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly #client: MongoClient;
  #isOpen = false;
  #isClosed = false;
  #answeredAt = -Infinity;

  constructor(client: MongoClient, db: Db, { clock, logger }: { readonly clock: Clock; readonly logger: Logger }) {
    this.#client = client;
    this.db = db;
    this.clock = clock;
    this.logger = logger;
  }

  startSession(): ClientSession {
    return this.#client.startSession();
  }

  get answeredAt(): number {
    return this.#answeredAt;
  }

  /** Rejects without an answer within about a second, as from a busy server. */
  async ping(): Promise<void> {
    await this.reach(Error, patience.pingMs, (signal) => this.db.command({ ping: 1 }, { signal }));
  }

  /** Rejects with the port's error after the time. The signal closes the connection, which ends the query. */
  async reach<Result>(
    Unavailable: Unavailable, withinMs: number, work: (signal: AbortSignal) => Promise<Result>,
  ): Promise<Result> {
    const givenUp = new AbortController();
    try {
      const { signal } = givenUp;
      const outcome = await within(this.clock, withinMs, this.#open(Unavailable, signal).then(() => work(signal)));
      if (outcome !== late) {
        this.#answeredAt = this.clock.monotonic();
        return outcome;
      }
      throw new Unavailable(`MongoDB did not answer within ${withinMs} ms`);
    } catch (error) {
      // If one of several commands failed, the others may still run.
      givenUp.abort();
      throw error instanceof Unavailable ? error : new Unavailable(`MongoDB: ${String(error)}`, { cause: error });
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#client.close();
  }

  /** By itself, the driver connects at the first command only, and never again after a failure. */
  async #open(Unavailable: Unavailable, signal: AbortSignal): Promise<void> {
    if (this.#isClosed) throw new Unavailable("the connection to MongoDB is closed");
    if (this.#isOpen) return;
    await this.#client.connect();
    const { setName, msg } = await this.db.command({ hello: 1 }, { signal });
    // A sharded cluster has transactions without naming a replica set.
    if (setName === undefined && msg !== "isdbgrid") throw new StandaloneServer();
    this.#isOpen = true;
  }
}

/** Does not wait for the server. Timeouts and write concern in the URL override the defaults. */
export function connectMongoDb(
  url: string,
  parts: { readonly clock: Clock; readonly logger: Logger },
): MongoConnection {
  // A secondary may lag behind the primary's answers.
  const client = new MongoClient(url, { ...optionsFor(url), readPreference: ReadPreference.primary });
  const named = new URL(url.replace(/^[^:]+:\/\/[^/?]*/, "mongodb://host")).pathname.slice(1);
  return new MongoConnection(client, client.db(decodeURIComponent(named) || defaultDatabase), parts);
}

function optionsFor(url: string): object {
  const asked = url.split("?")[1]?.toLowerCase() ?? "";
  const said = (name: string) => new RegExp(`(^|&)${name.toLowerCase()}=`).test(asked);
  return Object.fromEntries(
    Object.entries(options).filter(([name]) => !(name === "writeConcern" ? said("w") : said(name))),
  );
}
