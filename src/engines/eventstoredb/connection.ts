import console from "node:console";
import { setImmediate } from "node:timers/promises";
import { EventStoreDBClient } from "@eventstore/db-client";
import streams from "@eventstore/db-client/generated/streams_grpc_pb.js";
import type { Clock } from "../../kernel/ports/clock/clock.ts";
import { late, within } from "../../kernel/ports/clock/within.ts";
import { codeOf, grpcCode, isBusy } from "./failures.ts";

/** The client's generated stubs of the server's Streams service, on one channel. */
export type StreamsClient = InstanceType<typeof streams.StreamsClient>;

/**
 * A connection to a node or a cluster. The client finds the leader, keeps the channel and replaces it when a failure
 * requires that; the calls go through its generated stubs. Its own appends are not used, since all clients of the
 * process share one map for them, which one broken stream clears: a late reply then throws where nothing can catch it.
 * Nor are its reads, which parse JSON that is wanted as text.
 */
export class Connection {
  readonly #client: EventStoreDBClient;
  readonly #clock: Clock;
  readonly #stallMs: number;
  #answeredAt = -Infinity;
  /** The stubs on the present channel, and since when they are used. */
  #present: { readonly client: StreamsClient; readonly since: number } | undefined;

  /**
   * Throws when the address, or an option in it, cannot be understood. Connects with the first call. A channel is
   * replaced when calls fail and nothing came over it for `stallMs`.
   */
  constructor(url: string, clock: Clock, stallMs: number) {
    this.#client = clientOf(url);
    this.#clock = clock;
    this.#stallMs = stallMs;
  }

  /** When the server last answered anything, monotonic ms; -Infinity before the first answer. */
  get answeredAt(): number {
    return this.#answeredAt;
  }

  /** Notes that a message of the server came: it proves that the server lives. */
  answered(): void {
    this.#answeredAt = this.#clock.monotonic();
  }

  /**
   * The stubs on the present channel. Rejects when there is none within `deadlineMs`: the search for a cluster's leader
   * then goes on, for minutes where its members are silent, and the next caller waits for the same search.
   */
  async streams(deadlineMs: number): Promise<StreamsClient> {
    const found = this.#client["execute"](streams.StreamsClient, "streams", async (client) => client);
    const client = await within(this.#clock, deadlineMs, found);
    if (client === late) throw unanswered();
    if (this.#present?.client !== client) this.#present = { client, since: this.#clock.monotonic() };
    return client;
  }

  /** Headers and options of a call that fails by itself after `deadlineMs`; never when it is infinite. */
  callArguments(deadlineMs: number) {
    // Followers may lag behind the leader's answers.
    const options = { requiresLeader: true };
    return deadlineMs === Infinity
      ? this.#client["callArguments"](options, { deadline: Infinity })
      : this.#client["callArguments"]({ ...options, deadline: deadlineMs });
  }

  /** Replaces the channel if the failure of a call on `client` requires it: not while the channel delivers. */
  async failed(client: StreamsClient, error: unknown): Promise<void> {
    if (isBusy(error)) return this.answered();
    // A deadline is the only sign of a peer that accepts requests and never answers. A busy one answers late.
    if (codeOf(error) === grpcCode.deadlineExceeded) return this.replaceIfSilent(client);
    await this.#failed(client, error);
  }

  /** Replaces the channel if nothing came over it for `stallMs`. */
  async replaceIfSilent(client: StreamsClient): Promise<void> {
    // After a stall of this process, timers run before the answers that have come meanwhile.
    await setImmediate();
    const since = this.#present?.client === client ? this.#present.since : -Infinity;
    const silentMs = this.#clock.monotonic() - Math.max(since, this.#answeredAt);
    if (silentMs >= this.#stallMs) await this.#failed(client, unanswered());
  }

  async #failed(client: StreamsClient, asked: unknown): Promise<void> {
    try {
      // Done at once. During the search for another channel it would wait, with nothing left to do: that is not
      // awaited.
      if (asked instanceof Error) await within(this.#clock, 0, this.#client["handleError"](client, asked));
    } catch {
      // No channel could be made; the next call tries again and says why.
    }
  }

  /** Ends the channel, or gives up waiting for that after `timeoutMs`. */
  async close(timeoutMs: number): Promise<void> {
    const ending = (async () => {
      await this.#client.dispose();
      (await this.#client["getChannel"]()).close();
    })();
    await within(this.#clock, timeoutMs, ending.catch(() => undefined));
  }
}

/**
 * The client prints a warning for each option that it ignores, with the whole address, password included. Here an
 * option that it does not know is an error. It ignores `tlsVerifyCert` and verifies certificates, which shows when it
 * connects; the other warnings are advice.
 */
function clientOf(url: string): EventStoreDBClient {
  const warn = console.warn.bind(console);
  console.warn = (warning: string) => {
    if (warning.startsWith("Unknown option")) throw new Error(warning.split(",")[0]);
  };
  try {
    return EventStoreDBClient.connectionString(url);
  } finally {
    console.warn = warn;
  }
}

function unanswered(): Error {
  return Object.assign(new Error("no answer"), { code: grpcCode.unavailable, details: "no answer" });
}
