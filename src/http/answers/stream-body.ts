import { Readable } from "node:stream";
import { uncountedBytes, type AnswerMemory } from "../memory/request-memory.ts";

/**
 * Texts as the body of an answer. Each is asked for once the client has taken most of those before; a large one holds
 * memory until then. `failed` is called with an error of the texts, which ends the stream, and so the connection.
 */
export function streamBody(
  texts: AsyncIterable<string>, memory: AnswerMemory, failed: (error: unknown) => void,
): Readable {
  return Readable.from(counted(texts, memory, failed), { highWaterMark: 0 });
}

async function* counted(
  texts: AsyncIterable<string>, { hold, release }: AnswerMemory, failed: (error: unknown) => void,
): AsyncGenerator<string, void> {
  try {
    for await (const text of texts) {
      const bytes = Buffer.byteLength(text);
      const isCounted = bytes > uncountedBytes;
      if (isCounted) await hold(bytes);
      yield text;
      if (isCounted) release();
    }
  } catch (error) {
    failed(error);
    throw error;
  }
}
