import type { Readable } from "node:stream";
import type { Answer } from "../../kernel/operations/operation.ts";
import { uncountedBytes, type AnswerMemory } from "../memory/request-memory.ts";
import { pageBody } from "./page-body.ts";
import { streamBody } from "./stream-body.ts";

/** The body of an answer as Koa takes it. */
export type Content = string | Buffer | Readable;

/**
 * The body of an answer, once there is memory for it. Throws the errors of `hold` and of the parts of a page; `failed`
 * is called with those of a stream that has begun.
 */
export async function contentOf(
  answer: Answer, memory: AnswerMemory, failed: (error: unknown) => void,
): Promise<Content | undefined> {
  const { hold } = memory;
  if (answer.stream) {
    if (answer.holds === undefined) return streamBody(answer.stream, memory, failed);
    await hold(answer.holds, 0);
    return streamBody(answer.stream, heldAlready, failed);
  }
  const content = answer.page ? await pageBody(answer.page, hold) : contentNow(answer);
  // A Buffer is made once, at the start, and shared by its answers, so no memory is held for it.
  if (typeof content === "string" && content.length > uncountedBytes) await hold(Buffer.byteLength(content));
  return content;
}

const heldAlready: AnswerMemory = { hold: async () => undefined, release: () => undefined };

/** The body of a small answer that is no page. */
export function contentNow({ body, text }: Pick<Answer, "body" | "text">): string | Buffer | undefined {
  return body ? JSON.stringify(body) : text;
}
