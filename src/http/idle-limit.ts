import type { ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import type { Clock } from "../kernel/ports/clock.ts";

/** A connection that had a request. */
interface Served {
  /** Requests that are not answered yet. */
  unanswered: number;
  /** When its last answer was sent; monotonic, milliseconds. */
  idleSince: number;
}

/**
 * Ends connections that are idle for too long after an answer. Node restarts its own timer with every byte, even with
 * empty lines, which it ignores between requests.
 */
export class IdleLimit {
  readonly #clock: Pick<Clock, "monotonic" | "schedule">;
  readonly #ms: number;
  readonly #served = new WeakMap<Duplex, Served>();

  /** `ms`: from an answer to the end of the next request's head. */
  constructor(clock: Pick<Clock, "monotonic" | "schedule">, ms: number) {
    this.#clock = clock;
    this.#ms = ms;
  }

  /** A request has come; its connection is not idle until the answer is sent. */
  busyUntilClosed(response: ServerResponse): void {
    const { socket } = response.req;
    const served = this.#served.get(socket) ?? this.#watched(socket);
    served.unanswered += 1;
    response.once("close", () => {
      served.unanswered -= 1;
      served.idleSince = this.#clock.monotonic();
    });
  }

  #watched(socket: Duplex): Served {
    const served: Served = { unanswered: 0, idleSince: 0 };
    this.#served.set(socket, served);
    const look = () => {
      const left = served.unanswered > 0 ? this.#ms : served.idleSince + this.#ms - this.#clock.monotonic();
      if (left > 0) timer = this.#clock.schedule(left, look);
      else socket.destroy();
    };
    let timer = this.#clock.schedule(this.#ms, look);
    socket.once("close", () => timer.cancel());
    return served;
  }
}
