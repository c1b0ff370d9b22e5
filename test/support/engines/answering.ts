import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

/** Resolves when something listens on the port of this machine; rejects after `patienceMs` or when `given` up. */
export async function answering(port: number, patienceMs: number, given: AbortSignal): Promise<void> {
  const deadline = performance.now() + patienceMs;
  while (!(await listens(port))) {
    if (given.aborted) throw new Error(String(given.reason));
    if (performance.now() > deadline) throw new Error(`nothing listened on port ${port} for ${patienceMs} ms`);
    await sleep(50);
  }
}

function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1", () => {
      socket.destroy();
      resolve(true);
    }).on("error", () => resolve(false));
  });
}
