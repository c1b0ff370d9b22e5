import { MongoClient, ReadPreference, type ClientSession, type Db } from "mongodb";
import type { Clock } from "../../kernel/ports/clock/clock.ts";
import { late, within } from "../../kernel/ports/clock/within.ts";
import type { Logger } from "../../kernel/ports/telemetry.ts";

declare module "mongodb" {
  /** The driver honours it in every command. Its own types allow it in queries only, where it cannot reach `create`. */
  interface CommandOperationOptions {
    signal?: AbortSignal | undefined;
  }
}

/** A port's error for "cannot be reached". */
type Unavailable = new (message: string, options?: ErrorOptions) => Error;

/** How long an answer may take: a query, a write of the projector, the making of collections and indexes. */
export const patience = { questionMs: 2_000, writeMs: 10_000, schemaMs: 120_000, pingMs: 1_000 } as const;

/**
 * An unreachable server is given up within `serverSelectionTimeoutMS`. The monitor calls a server frozen when a
 * heartbeat has no answer for `connectTimeoutMS`, and then closes all connections to it, so a busy server that pauses
 * for seconds must not fall under that. The driver recovers from both by itself. No other wait is longer than the
 * socket's.
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

/** The server is no member of a replica set: it has no transactions. */
export class StandaloneServer extends Error {
  override readonly name: string = "StandaloneServer";

  constructor() {
    super("RELAY_MONGODB_URL: the server has no transactions: start it as a replica set, of one node at least");
  }
}

/** A connection to one database, shared by all its users in a process. */
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

  /** A session for transactions, one after the other. End it. */
  startSession(): ClientSession {
    return this.#client.startSession();
  }

  /** When the server last answered anything, monotonic ms; -Infinity before the first answer. */
  get answeredAt(): number {
    return this.#answeredAt;
  }

  /** Rejects within about a second when the server does not answer; a busy one may not. */
  async ping(): Promise<void> {
    await this.reach(Error, patience.pingMs, (signal) => this.db.command({ ping: 1 }, { signal }));
  }

  /**
   * Runs a task within the time, or rejects with the port's error, whose cause is the task's error. The signal aborts a
   * task that is given up: its connection is closed, which ends a query's work at the server. Otherwise the connection
   * would stay occupied for as long as the socket waits.
   */
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
      // Also where one of several failed: the others may be under way.
      givenUp.abort();
      throw error instanceof Unavailable ? error : new Unavailable(`MongoDB: ${String(error)}`, { cause: error });
    }
  }

  /** Closes the connection: calls under way and later ones fail. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#client.close();
  }

  /** By itself, the driver connects at the first command only, and never again once that has failed. */
  async #open(Unavailable: Unavailable, signal: AbortSignal): Promise<void> {
    if (this.#isClosed) throw new Unavailable("the connection to MongoDB is closed");
    if (this.#isOpen) return;
    await this.#client.connect();
    const { setName, msg } = await this.db.command({ hello: 1 }, { signal });
    // Some servers name no replica set and say, as a sharded cluster's do, that they have transactions.
    if (setName === undefined && msg !== "isdbgrid") throw new StandaloneServer();
    this.#isOpen = true;
  }
}

/**
 * Opens a connection to the database that the URL names (`relay` where it names none). Resolves at once, whether the
 * server answers or not. Timeouts and write concern in the URL override the defaults; a read preference in the URL has
 * no effect.
 */
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
