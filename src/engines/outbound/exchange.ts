import type { IncomingHttpHeaders } from "node:http";
import type { Dispatcher } from "undici";
import type { OutboundAnswer, OutboundFailure } from "../../kernel/ports/outbound.ts";
import { CallFailure, connectionFailure } from "./failures.ts";

/** The result of a call. */
export type OutboundResult = OutboundAnswer | OutboundFailure;

const firstBytes = 512;

const tooLate = new CallFailure("timeout", "the deadline is over");
const noBody = new CallFailure("connection", "a body follows an answer that has none");

/** One request and its answer. Settles once: a head makes an answer, even if the body breaks or is late. */
export class Exchange implements Dispatcher.DispatchHandler {
  readonly #settle: (outcome: OutboundResult) => void;
  readonly #keepBytes: number;
  readonly #deadlineMs: number;
  readonly #timer: NodeJS.Timeout;
  readonly #endsAt: number;
  #controller: Dispatcher.DispatchController | undefined;
  #settled = false;
  #statusCode = 0;
  #headers: Readonly<Record<string, string>> = {};
  #body: Buffer = Buffer.alloc(0);
  #kept = 0;
  #received = 0;

  /** `timeoutMs`: from now, the rest of the total `deadlineMs`. */
  constructor(keepBytes: number, timeoutMs: number, deadlineMs: number, settle: (outcome: OutboundResult) => void) {
    this.#keepBytes = keepBytes;
    this.#deadlineMs = deadlineMs;
    this.#settle = settle;
    this.#timer = setTimeout(expire, timeoutMs, this);
    this.#endsAt = performance.now() + timeoutMs;
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (!this.#settled && performance.now() < this.#endsAt) {
      this.#controller = controller;
      return;
    }
    // The deadline passed before there was a connection. In a delayed process this precedes the timer's event.
    this.expire();
    controller.abort(tooLate);
  }

  onResponseStart(controller: Dispatcher.DispatchController, statusCode: number, headers: IncomingHttpHeaders): void {
    this.#statusCode = statusCode;
    this.#headers = flat(headers);
    if ((statusCode !== 204 && statusCode !== 304) || headers["transfer-encoding"] === undefined) return;
    // This body would be taken for the beginning of the next answer.
    this.#answered(false);
    controller.abort(noBody);
  }

  /** Reads the whole body to reuse the connection; the answer reader bounds it. */
  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#received += chunk.length;
    this.#keep(chunk);
  }

  onResponseEnd(): void {
    this.#answered(this.#received > this.#keepBytes);
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    if (this.#statusCode === 0) this.#failed(connectionFailure(error));
    else this.#answered(true);
  }

  expire(): void {
    if (this.#statusCode === 0) this.#failed(new CallFailure("timeout", `no answer within ${this.#deadlineMs} ms`));
    else this.#answered(true);
    this.#controller?.abort(tooLate);
  }

  /** Copies, since a slice would keep its whole chunk, and a receiver may send many small ones. */
  #keep(chunk: Buffer): void {
    const kept = this.#kept + Math.min(chunk.length, this.#keepBytes - this.#kept);
    if (kept > this.#body.length) {
      const larger = Buffer.alloc(Math.min(Math.max(kept, this.#body.length * 2, firstBytes), this.#keepBytes));
      this.#body.copy(larger, 0, 0, this.#kept);
      this.#body = larger;
    }
    chunk.copy(this.#body, this.#kept, 0, kept - this.#kept);
    this.#kept = kept;
  }

  #answered(truncated: boolean): void {
    this.#end({
      answered: true,
      statusCode: this.#statusCode,
      headers: this.#headers,
      body: this.#body.subarray(0, this.#kept),
      truncated,
    });
  }

  #failed({ reason, message }: CallFailure): void {
    this.#end({ answered: false, reason, error: message, connected: this.#controller !== undefined });
  }

  #end(outcome: OutboundResult): void {
    if (this.#settled) return;
    this.#settled = true;
    clearTimeout(this.#timer);
    this.#settle(outcome);
  }
}

function expire(exchange: Exchange): void {
  exchange.expire();
}

/** Joins repeated headers, as HTTP allows. */
function flat(headers: IncomingHttpHeaders): Readonly<Record<string, string>> {
  const entries = Object.entries(headers) as [string, string | string[]][];
  const joined = entries.map(([name, value]) => [name, typeof value === "string" ? value : value.join(", ")] as const);
  // Not by assignment: a header may be called __proto__.
  return Object.fromEntries(joined);
}
