import type { RelayProcess } from "./relay.ts";

/** Node's monitor takes a sample each time a timer of this length has run out, and calls the whole of it the delay. */
const sampleMs = 10;

/** Delays of an event loop, ms. */
export interface Delay {
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

/** The delay of the main thread's event loop since the last call, ms; the main thread answers `/metrics`. */
export async function delayOf(relay: RelayProcess): Promise<Delay> {
  const metrics = await relay.metrics();
  const of = (part: string) => {
    const value = new RegExp(`^nodejs_eventloop_lag_${part}_seconds (\\S+)$`, "m").exec(metrics)?.[1];
    return Math.max(0, Number(value ?? NaN) * 1000 - sampleMs);
  };
  return { p50: of("p50"), p99: of("p99"), max: of("max") };
}
