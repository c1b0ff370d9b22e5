import { once } from "node:events";
import { Worker } from "node:worker_threads";

/** Connections that all send the same, and then nothing. */
export interface StuckClients {
  readonly port: number;
  readonly count: number;
  readonly sends: string;
  /** Whether they read the answers: all of them, a kilobyte now and then, or nothing. */
  readonly reads: boolean | "slowly";
  /** So long after its request each closes its connection, and opens the next; never unless given. */
  readonly closesAfterMs?: number;
}

/** A thread of clients that are stuck until {@link close}: a busy one does not slow the test's own requests. */
export class StuckClientsThread {
  readonly #worker = new Worker(new URL("./stuck-clients-worker.ts", import.meta.url));

  /** Opens connections, once all before are; resolves when these are connected. */
  async open(clients: StuckClients): Promise<void> {
    const opened = once(this.#worker, "message");
    this.#worker.postMessage(clients);
    await opened;
  }

  /** Closes all connections. */
  async close(): Promise<void> {
    await this.#worker.terminate();
  }
}
