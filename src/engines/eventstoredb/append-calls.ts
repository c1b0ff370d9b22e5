import type streams from "@eventstore/db-client/generated/streams_pb.js";
import type { Clock, Timer } from "../../kernel/ports/clock.ts";
import { LogUnavailable } from "../../kernel/ports/event-store.ts";
import { isFinal } from "./append-outcome.ts";
import type { Connection, StreamsClient } from "./connection.ts";
import { grpcCode, unavailable } from "./failures.ts";
import type { Tuning } from "./tuning.ts";

type Reply = streams.BatchAppendResp;
type Call = ReturnType<StreamsClient["batchAppend"]>;

interface Unsettled {
  readonly request: streams.BatchAppendReq;
  sendings: number;
  again: Timer | undefined;
  settle(reply: Reply): void;
  giveUp(error: Error): void;
}

/**
 * Sends appends over one call and matches the replies. After a broken call, open appends are sent again in order, with
 * the same message ids at the same revision: a committed one gets its first answer. The server leaves a repeat
 * unanswered for two seconds while it works on the first, so repeats go on until there is an answer.
 */
export class AppendCalls {
  readonly #connection: Connection;
  readonly #clock: Clock;
  readonly #tuning: Tuning;
  readonly #onAnomaly: (error: unknown) => void;
  readonly #unsettled = new Map<string, Unsettled>();
  #unsent = new Set<Unsettled>();
  #client: StreamsClient | undefined;
  #call: Call | undefined;
  #opening = false;
  #full = false;
  #failures = 0;
  #lastProblem: unknown;
  /** When the last reply came over this call, or the call began; monotonic. */
  #lastReply = 0;
  #watch: Timer | undefined;
  #closed = false;

  constructor(connection: Connection, clock: Clock, tuning: Tuning, onAnomaly: (error: unknown) => void) {
    this.#connection = connection;
    this.#clock = clock;
    this.#tuning = tuning;
    this.#onAnomaly = onAnomaly;
  }

  /** Rejects with LogUnavailable without a reply after `timeoutMs`. */
  send(correlation: string, request: streams.BatchAppendReq, timeoutMs: number): Promise<Reply> {
    if (this.#closed) return Promise.reject(new LogUnavailable("the event store is closed"));
    return new Promise((resolve, reject) => {
      const end = () => {
        timer.cancel();
        append.again?.cancel();
        this.#unsettled.delete(correlation);
        this.#unsent.delete(append);
      };
      const timer = this.#clock.schedule(timeoutMs, () => {
        append.giveUp(unavailable("append", this.#lastProblem ?? new Error("no answer in time")));
      });
      const append: Unsettled = {
        request,
        sendings: 0,
        again: undefined,
        settle: (reply) => {
          end();
          resolve(reply);
        },
        giveUp: (error) => {
          end();
          reject(error);
        },
      };
      this.#unsettled.set(correlation, append);
      this.#unsent.add(append);
      if (this.#unsettled.size === 1) this.#startWatch();
      if (this.#call) this.#pump();
      else if (!this.#opening) this.#open();
    });
  }

  close(): void {
    this.#closed = true;
    this.#watch?.cancel();
    this.#call?.cancel();
    for (const append of this.#unsettled.values()) append.giveUp(new LogUnavailable("the event store is closed"));
  }

  #open(): void {
    if (this.#closed) return;
    this.#opening = true;
    const opened = (async () => {
      const client = await this.#connection.streams(this.#tuning.stallMs);
      if (this.#closed) return;
      const call = client.batchAppend(...this.#connection.callArguments(Infinity));
      this.#client = client;
      this.#call = call;
      this.#lastReply = this.#clock.monotonic();
      this.#opening = false;
      this.#full = false;
      this.#unsent = new Set(this.#unsettled.values());
      call.on("data", (reply: Reply) => this.#receive(call, reply));
      call.on("drain", () => {
        if (this.#call !== call) return;
        this.#full = false;
        this.#pump();
      });
      call.on("error", (error: Error) => void this.#broken(call, client, error));
      call.on("status", ({ code }: { readonly code: number }) => {
        if (code === grpcCode.ok) void this.#broken(call, client, new Error("the server ended the call"));
      });
      this.#pump();
    })();
    opened.catch((error: unknown) => this.#retry(error));
  }

  #pump(): void {
    for (const append of this.#unsent) {
      if (!this.#call || this.#full) return;
      this.#unsent.delete(append);
      this.#full = !this.#call.write(append.request);
      append.sendings += 1;
      if (append.sendings > 1) this.#sendLater(append);
    }
  }

  #sendLater(append: Unsettled): void {
    append.again ??= this.#clock.schedule(this.#pauseMs(append.sendings - 1), () => {
      append.again = undefined;
      this.#unsent.add(append);
      this.#pump();
    });
  }

  #receive(call: Call, reply: Reply): void {
    if (this.#call !== call) return;
    this.#connection.answered();
    this.#lastReply = this.#clock.monotonic();
    this.#failures = 0;
    this.#lastProblem = undefined;
    const correlation = reply.getCorrelationId()?.getString() ?? "";
    const append = this.#unsettled.get(correlation);
    // The append was given up, or this is the server's second reply to a bad request.
    if (!append) return;
    if (!isFinal(reply)) {
      this.#lastProblem = new Error(reply.getError()?.getMessage());
      this.#sendLater(append);
      return;
    }
    append.settle(reply);
  }

  async #broken(call: Call, client: StreamsClient, error: unknown): Promise<void> {
    if (this.#call !== call) return;
    this.#call = undefined;
    this.#opening = true;
    call.cancel();
    await this.#connection.failed(client, error);
    this.#retry(error);
  }

  #retry(error: unknown): void {
    this.#lastProblem = error;
    if (this.#unsettled.size === 0 || this.#closed) {
      this.#opening = false;
      return;
    }
    this.#onAnomaly(error);
    this.#clock.schedule(this.#pauseMs(this.#failures++), () => this.#open());
  }

  #pauseMs(failures: number): number {
    const { firstPauseMs, longestPauseMs } = this.#tuning;
    return Math.min(firstPauseMs * 2 ** failures, longestPauseMs);
  }

  #startWatch(): void {
    this.#watch?.cancel();
    const { stallMs } = this.#tuning;
    const look = () => {
      if (this.#unsettled.size === 0) return;
      const silentMs = this.#clock.monotonic() - this.#lastReply;
      if (silentMs < stallMs) {
        this.#watch = this.#clock.schedule(stallMs - silentMs, look);
        return;
      }
      this.#watch = this.#clock.schedule(stallMs, look);
      void this.#giveUpCall();
    };
    this.#watch = this.#clock.schedule(stallMs, look);
  }

  /** Replaces a call that leaves appends unanswered, and a silent channel. */
  async #giveUpCall(): Promise<void> {
    const [call, client, lastReply] = [this.#call, this.#client, this.#lastReply];
    if (!call || !client) return;
    await this.#connection.replaceIfSilent(client);
    if (this.#lastReply !== lastReply) return;
    await this.#broken(call, client, new Error("no answer in time"));
  }
}
