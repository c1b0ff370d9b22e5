import type {
  OutboundAnswer, OutboundClient, OutboundFailure, OutboundRequest,
} from "../../src/kernel/ports/outbound.ts";
import type { SimulatedProcess } from "./process.ts";
import type { Random } from "./random.ts";
import type { Scheduler } from "./scheduler.ts";
import { TokenEndpoints } from "./token-endpoints.ts";

/** The behaviours of a receiver. */
export const tempers = [
  "fast", "slow", "failing", "gone", "busy", "paced", "silent", "flapping", "ragged", "dead", "moved", "denying",
] as const;
export type Temper = (typeof tempers)[number];

/** The host of a tenant's receiver, counted from 0. */
export function hostOf(tenantId: string, receiver: number): string {
  return `${tenantId}.receiver-${receiver}.example`;
}

/** A request to a receiver, from its sending to its end. */
export interface Call {
  readonly process: SimulatedProcess;
  readonly host: string;
  readonly url: string;
  readonly eventId: string;
  /** The id under which the receiver knows the event: its message's, if it delivers one. */
  readonly webhookId: string;
  readonly attempt: number;
  readonly body: string;
  readonly signature: string;
  /** The credentials that it carries. */
  readonly proof: { readonly apiKey: string | undefined; readonly bearer: string | undefined };
  readonly startedAt: number;
  /** The result that the sending process received; undefined until then. */
  result?: OutboundAnswer | OutboundFailure;
}

/**
 * Called for every request when it leaves, when it ends at the receiver, and when its process receives the result.
 */
export interface CallWatcher {
  sent(call: Call): void;
  over(call: Call): void;
  heard(call: Call): void;
}

type Plan = { readonly afterMs: number } & (
  | { readonly status: number; readonly retryAfterS?: number }
  | { readonly refused: true }
);

/** All receivers, and the network to them. */
export class Receivers {
  watcher: CallWatcher | undefined;
  readonly tokenEndpoints: TokenEndpoints;
  #healed = false;
  /** The longest pause that a busy receiver asks for, ms. */
  busyMs = 0;
  readonly #scheduler: Scheduler;
  readonly #random: Random;
  readonly #tempers = new Map<string, Temper>();

  constructor(parts: { readonly scheduler: Scheduler; readonly random: Random }) {
    this.#scheduler = parts.scheduler;
    this.#random = parts.random;
    this.tokenEndpoints = new TokenEndpoints({ ...parts, random: parts.random.fork("tokens") });
  }

  /** From now on every receiver answers 200 at once, and every token endpoint gives good tokens. */
  heal(): void {
    this.#healed = true;
    this.tokenEndpoints.healed = true;
  }

  change(host: string, temper: Temper): void {
    this.#tempers.set(host, temper);
  }

  /** The access of a process to the network. */
  client(process: SimulatedProcess): OutboundClient {
    return {
      post: (request) => this.tokenEndpoints.has(request)
        ? this.tokenEndpoints.post(process, request)
        : this.#post(process, request),
      refusalOf: () => null,
      close: async () => undefined,
    };
  }

  #post(process: SimulatedProcess, request: OutboundRequest): Promise<OutboundAnswer | OutboundFailure> {
    const { url, headers, body, timeoutMs } = request;
    const { host } = new URL(url);
    const call: Call = {
      process, host, url, startedAt: this.#scheduler.now,
      eventId: headers["X-Relay-Delivery"] ?? headers["webhook-id"] ?? "",
      webhookId: headers["webhook-id"] ?? "",
      attempt: Number(headers["X-Relay-Attempt"]),
      body: Buffer.from(body).toString(),
      signature: headers["X-Service-Signature"] ?? "",
      proof: { apiKey: headers["X-Key"], bearer: headers["Authorization"]?.replace("Bearer ", "") },
    };
    this.watcher?.sent(call);
    const plan = this.#plan(host);
    const inTime = plan.afterMs < timeoutMs;
    const outcome: OutboundAnswer | OutboundFailure = !inTime
      ? { answered: false, reason: "timeout", error: "no answer in time", connected: true }
      : "refused" in plan
        ? { answered: false, reason: "connection", error: "connection refused", connected: false }
        : {
          answered: true, statusCode: plan.status, truncated: false, body: Buffer.from("seen"),
          headers: plan.retryAfterS === undefined ? {} : { "retry-after": String(plan.retryAfterS) },
        };
    return new Promise((resolve) => {
      this.#scheduler.after(inTime ? plan.afterMs : timeoutMs, () => {
        this.watcher?.over(call);
        process.hear(() => {
          call.result = outcome;
          this.watcher?.heard(call);
          resolve(outcome);
        });
      });
    });
  }

  #plan(host: string): Plan {
    const random = this.#random;
    const soon = random.between(0.5, 20);
    if (this.#healed) return { afterMs: soon, status: 200 };
    const temper = this.#tempers.get(host) ?? "fast";
    switch (temper) {
      case "fast":
        return { afterMs: soon, status: random.pick([200, 201, 204]) };
      case "slow":
        return { afterMs: random.spread(200, 8_000), status: 200 };
      case "failing":
        return { afterMs: soon, status: random.pick([500, 502, 404]) };
      case "gone":
        return { afterMs: soon, status: random.chance(0.3) ? 410 : 200 };
      case "busy":
        return { afterMs: soon, status: random.pick([429, 503]), retryAfterS: random.below(this.busyMs / 1000) };
      case "paced":
        return random.chance(0.5)
          ? { afterMs: soon, status: 200 }
          : { afterMs: soon, status: 429, ...(random.chance(0.5) && { retryAfterS: 1 + random.below(3) }) };
      case "silent":
        return { afterMs: Infinity, status: 0 };
      case "flapping":
        return { afterMs: soon, status: Math.floor(this.#scheduler.now / 3_000) % 2 ? 500 : 200 };
      case "ragged":
        return {
          afterMs: random.pick([soon, soon, random.between(500, 5_000), Infinity]), status: random.pick([200, 500]),
        };
      case "dead":
        return { afterMs: soon, refused: true };
      case "moved":
        return { afterMs: soon, status: 302 };
      case "denying":
        return { afterMs: soon, status: random.chance(0.5) ? 401 : 200 };
    }
  }
}
