import { once } from "node:events";
import type { RelayProcess } from "./relay-process.ts";

/** Flags of Node for a relay whose heap is to be looked at. */
export const inspected: readonly string[] = ["--inspect=127.0.0.1:0"];

/** V8's heap spaces for compiled code and its metadata. */
const codeSpaces = ["code_space", "code_large_object_space", "trusted_space", "trusted_large_object_space"];

/** Bytes in use on the heap of a relay's main thread, after a full collection. */
export async function heapInUse(relay: RelayProcess): Promise<number> {
  return (await usageOf(relay)).usedSize;
}

/** The same, and the buffers that its objects hold. */
export async function memoryInUse(relay: RelayProcess): Promise<number> {
  const { usedSize, backingStorageSize } = await usageOf(relay);
  return usedSize + backingStorageSize;
}

/** The same without compiled code, which grows the more often the code runs. */
export async function dataInUse(relay: RelayProcess): Promise<number> {
  const { usedSize, backingStorageSize, spaces } = await usageOf(relay);
  const code = spaces.filter(({ space_name: name }) => codeSpaces.includes(name));
  return code.reduce((left, { space_used_size: size }) => left - size, usedSize + backingStorageSize);
}

interface HeapUsage {
  readonly usedSize: number;
  readonly backingStorageSize: number;
  readonly spaces: readonly { readonly space_name: string; readonly space_used_size: number }[];
}

async function usageOf(relay: RelayProcess): Promise<HeapUsage> {
  const inspector = new WebSocket(relay.printed(/ws:\S+/) ?? "");
  await once(inspector, "open");
  const ask = async (method: string, params: object = {}): Promise<unknown> => {
    const answered = once(inspector, "message");
    inspector.send(JSON.stringify({ id: 1, method, params }));
    const [{ data }] = (await answered) as [{ readonly data: string }];
    return (JSON.parse(data) as { result: unknown }).result;
  };
  await ask("HeapProfiler.collectGarbage");
  const usage = (await ask("Runtime.getHeapUsage")) as Omit<HeapUsage, "spaces">;
  const expression = "process.getBuiltinModule('node:v8').getHeapSpaceStatistics()";
  const evaluated = await ask("Runtime.evaluate", { expression, returnByValue: true });
  inspector.close();
  return { ...usage, spaces: (evaluated as { result: { value: HeapUsage["spaces"] } }).result.value };
}
