import { once } from "node:events";
import type { RelayProcess } from "./relay-process.ts";

/** Flags of Node for a relay whose heap is to be looked at. */
export const inspected: readonly string[] = ["--inspect=127.0.0.1:0"];

/** Bytes in use on the heap of a relay's main thread, after a full collection. */
export async function heapInUse(relay: RelayProcess): Promise<number> {
  return (await usageOf(relay)).usedSize;
}

/** The same, and the buffers that its objects hold. */
export async function memoryInUse(relay: RelayProcess): Promise<number> {
  const { usedSize, backingStorageSize } = await usageOf(relay);
  return usedSize + backingStorageSize;
}

interface HeapUsage {
  readonly usedSize: number;
  readonly backingStorageSize: number;
}

async function usageOf(relay: RelayProcess): Promise<HeapUsage> {
  const inspector = new WebSocket(relay.printed(/ws:\S+/) ?? "");
  await once(inspector, "open");
  const ask = async (method: string): Promise<unknown> => {
    const answered = once(inspector, "message");
    inspector.send(JSON.stringify({ id: 1, method }));
    const [{ data }] = (await answered) as [{ readonly data: string }];
    return (JSON.parse(data) as { result: unknown }).result;
  };
  await ask("HeapProfiler.collectGarbage");
  const usage = (await ask("Runtime.getHeapUsage")) as HeapUsage;
  inspector.close();
  return usage;
}
