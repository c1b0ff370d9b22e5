import { open, type Call, type ClientOptions } from "./call.ts";
import { unreachable } from "./relay-error.ts";
import type { Schemas } from "./types.ts";

/** The lines of the operations that answer in lines. */
export interface LinesOf {
  readonly searchEvents: Schemas["EventSearchLine"];
  readonly exportEvents: Schemas["EventExportLine"];
}

/**
 * The lines of an answer, each as it comes; the last has `end`. Rejects as any operation does, and where the answer
 * breaks off before that line.
 */
export async function* linesOf(client: ClientOptions, call: Call): AsyncGenerator<LinesOf[keyof LinesOf], void> {
  const { body } = await open(client, call, async (answer) => answer);
  const reader = body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  try {
    for (let read = await reader?.read(); read && !read.done; read = await reader?.read()) {
      const lines = (text + read.value).split("\n");
      text = lines.pop() ?? "";
      for (const line of lines) {
        const value = JSON.parse(line) as LinesOf[keyof LinesOf];
        yield value;
        if ("end" in value) return;
      }
    }
  } catch (error) {
    throw call.options.signal?.aborted ? error : unreachable(call.id, error);
  } finally {
    await reader?.cancel().catch(() => undefined);
  }
  throw unreachable(call.id, new Error("the answer is incomplete"));
}
