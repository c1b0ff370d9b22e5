import console from "node:console";
import { setImmediate } from "node:timers/promises";
import { EventStoreDBClient } from "@eventstore/db-client";
import streams from "@eventstore/db-client/generated/streams_grpc_pb.js";
import type { ReadReq } from "@eventstore/db-client/generated/streams_pb.js";
import { type Clock, late, within } from "../../kernel/ports/clock.ts";
import { codeOf, grpcCode, isBusy } from "./failures.ts";
import { receivedOf } from "./received.ts";

/** The client's generated stubs of the Streams service, on one channel. */
export type StreamsClient = InstanceType<typeof streams.StreamsClient>;

/**
 * A connection to a node or cluster. The client finds the leader and replaces broken channels; calls use its stubs. Its
 * own appends throw late replies uncaught after a broken stream, and its reads parse JSON that is needed as text.
 */
export class Connection {
  readonly #client: EventStoreDBClient;
  readonly #clock: Clock;
  readonly #stallMs: number;
  #answeredAt = -Infinity;
  #present: { readonly client: StreamsClient; readonly since: number } | undefined;

  /** Throws for an invalid address. Replaces the channel after failed calls if it was silent for `stallMs`. */
  constructor(url: string, clock: Clock, stallMs: number) {
    this.#client = clientOf(url);
    this.#clock = clock;
    this.#stallMs = stallMs;
  }

  /** When the server last answered, monotonic ms; -Infinity before the first answer. */
  get answeredAt(): number {
    return this.#answeredAt;
  }

  answered(): void {
    this.#answeredAt = this.#clock.monotonic();
  }

  /** Rejects without a channel after `deadlineMs`; the next caller joins the search for a leader. */
  async streams(deadlineMs: number): Promise<StreamsClient> {
    const found = this.#client["execute"](streams.StreamsClient, "streams", async (client) => client);
    const client = await within(this.#clock, deadlineMs, found);
    if (client === late) throw unanswered();
    if (this.#present?.client !== client) this.#present = { client, since: this.#clock.monotonic() };
    return client;
  }

  callArguments(deadlineMs: number) {
    // Followers may lag behind the leader's answers.
    const options = { requiresLeader: true };
    return deadlineMs === Infinity
      ? this.#client["callArguments"](options, { deadline: Infinity })
      : this.#client["callArguments"]({ ...options, deadline: deadlineMs });
  }

  /** Begins a read or a subscription; it gives messages of type `Received`. */
  read(client: StreamsClient, request: ReadReq, deadlineMs: number) {
    const { path, requestSerialize } = streams.StreamsService.read;
    const [metadata, options] = this.callArguments(deadlineMs);
    return client.makeServerStreamRequest(path, requestSerialize, receivedOf, request, metadata, options);
  }

  /** Replaces the channel if the failure requires it: not while the channel delivers. */
  async failed(client: StreamsClient, error: unknown): Promise<void> {
    if (isBusy(error)) return this.answered();
    // A silent peer causes nothing but deadlines. A busy one answers late.
    if (codeOf(error) === grpcCode.deadlineExceeded) return this.replaceIfSilent(client);
    await this.#failed(client, error);
  }

  async replaceIfSilent(client: StreamsClient): Promise<void> {
    // After a stall of this process, timers run before answers received meanwhile.
    await setImmediate();
    const since = this.#present?.client === client ? this.#present.since : -Infinity;
    const silentMs = this.#clock.monotonic() - Math.max(since, this.#answeredAt);
    if (silentMs >= this.#stallMs) await this.#failed(client, unanswered());
  }

  async #failed(client: StreamsClient, asked: unknown): Promise<void> {
    try {
      // Returns at once, or while another channel is sought, waits with nothing left to do: that is not awaited.
      if (asked instanceof Error) await within(this.#clock, 0, this.#client["handleError"](client, asked));
    } catch {
      // No channel could be made; the next call reports the reason.
    }
  }

  async close(timeoutMs: number): Promise<void> {
    const ending = (async () => {
      await this.#client.dispose();
      (await this.#client["getChannel"]()).close();
    })();
    await within(this.#clock, timeoutMs, ending.catch(() => undefined));
  }
}

/** The client warns about ignored options by printing the password: unknown options are errors instead. */
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
