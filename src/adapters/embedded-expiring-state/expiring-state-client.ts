import type { MessagePort } from "node:worker_threads";
import {
  ExpiringStateUnavailable,
  type ExpiringState,
  type RateLimit,
  type Ticket,
} from "../../ports/expiring-state.ts";
import { answerCalls, Caller } from "../message-port/calls.ts";

/** Answers the {@link ExpiringStateClient} at the other end of a port. Closing the port ends it. */
export function serveExpiringState(port: MessagePort, state: ExpiringState): void {
  answerCalls(port, {
    get: (keys: readonly string[]) => state.get(keys),
    put: (key: string, value: string, ttlMs: number | null) => state.put(key, value, ttlMs),
    admit: (keys: readonly string[], limit: RateLimit) => state.admit(keys, limit),
    forgive: (ticket: Ticket) => state.forgive(ticket),
    lease: (name: string, owner: string, ttlMs: number) => state.lease(name, owner, ttlMs),
    release: (name: string, owner: string) => state.release(name, owner),
  });
}

/** The expiring state of another thread. Calls of one turn of the event loop travel together, in order. */
export class ExpiringStateClient implements ExpiringState {
  readonly #caller: Caller;

  constructor(port: MessagePort, options: { readonly maxPending: number } = { maxPending: 10_000 }) {
    this.#caller = new Caller(port, (message) => new ExpiringStateUnavailable(`expiring state: ${message}`), options);
  }

  get(keys: readonly string[]): Promise<readonly (string | null)[]> {
    return this.#caller.call("get", keys) as Promise<readonly (string | null)[]>;
  }

  async put(key: string, value: string, ttlMs: number | null): Promise<void> {
    await this.#caller.call("put", key, value, ttlMs);
  }

  admit(keys: readonly string[], limit: RateLimit): Promise<Ticket | null> {
    return this.#caller.call("admit", keys, limit) as Promise<Ticket | null>;
  }

  async forgive(ticket: Ticket): Promise<void> {
    await this.#caller.call("forgive", ticket);
  }

  lease(name: string, owner: string, ttlMs: number): Promise<boolean> {
    return this.#caller.call("lease", name, owner, ttlMs) as Promise<boolean>;
  }

  async release(name: string, owner: string): Promise<void> {
    await this.#caller.call("release", name, owner);
  }

  /** Calls still under way fail. */
  close(): void {
    this.#caller.close();
  }
}
