import { once } from "node:events";
import type { RelayProcess } from "./relay-process.ts";

/** Flags of Node for a relay whose heap is to be looked at. */
export const inspected: readonly string[] = ["--inspect=127.0.0.1:0"];

/** Bytes in use on the heap of a relay's main thread, after a full collection. */
export async function heapInUse(relay: RelayProcess): Promise<number> {
  const inspector = new WebSocket(relay.printed(/ws:\S+/) ?? "");
  await once(inspector, "open");
  const ask = async (method: string): Promise<unknown> => {
    const answered = once(inspector, "message");
    inspector.send(JSON.stringify({ id: 1, method }));
    const [{ data }] = (await answered) as [{ readonly data: string }];
    return (JSON.parse(data) as { result: unknown }).result;
  };
  await ask("HeapProfiler.collectGarbage");
  const { usedSize } = (await ask("Runtime.getHeapUsage")) as { usedSize: number };
  inspector.close();
  return usedSize;
}
