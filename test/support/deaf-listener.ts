import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { Worker } from "node:worker_threads";

/** An address that drops every packet that asks for a connection, until {@link hear} is called. */
export interface DeafListener {
  readonly port: number;
  /** Accepts and forwards connections from now on, also retries by the caller's kernel (after 1 s, 3 s, …). */
  hear(): void;
  close(): Promise<void>;
}

/**
 * Starts a {@link DeafListener} on a loopback address, as a real socket whose backlog is full. It forwards to a port of
 * 127.0.0.1, and back, with `delayMs` for a round trip.
 */
export async function startDeafListener(
  host: string,
  port: number,
  { forwardTo = 0, delayMs = 0 }: { readonly forwardTo?: number; readonly delayMs?: number } = {},
): Promise<DeafListener> {
  const ears = new Int32Array(new SharedArrayBuffer(4));
  const workerData = { host, port, forwardTo, delayMs, ears };
  const worker = new Worker(new URL("deaf-listener-worker.ts", import.meta.url), { workerData });
  const [listening] = (await once(worker, "message")) as [number];
  const fillers = await fill(host, listening);
  const hear = () => {
    for (const filler of fillers) filler.destroy();
    Atomics.store(ears, 0, 1);
    Atomics.notify(ears, 0);
  };
  return {
    port: listening,
    hear,
    close: async () => {
      hear();
      await worker.terminate();
    },
  };
}

/** Connects until a connection does not come about within a moment: then the backlog is full. */
async function fill(host: string, port: number): Promise<Socket[]> {
  const fillers: Socket[] = [];
  for (;;) {
    const filler = connect(port, host).on("error", () => {});
    fillers.push(filler);
    const connected = once(filler, "connect").then(() => true);
    const late = new Promise<false>((resolve) => setTimeout(resolve, 100, false));
    if (!(await Promise.race([connected, late]))) return fillers;
  }
}
