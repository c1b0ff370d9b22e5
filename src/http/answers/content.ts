import type { Readable } from "node:stream";
import { uncountedBytes, type HoldAnswer } from "../memory/request-memory.ts";
import type { Answer } from "../route.ts";
import { pageBody } from "./page-body.ts";

/** The body of an answer as Koa takes it. */
export type Content = string | Buffer | Readable;

/** The body of an answer, once there is memory for it. Throws the errors of `hold` and of the parts of a page. */
export async function contentOf(answer: Answer, hold: HoldAnswer): Promise<Content | undefined> {
  const content = answer.page ? await pageBody(answer.page, hold) : contentNow(answer);
  // A Buffer is made once, at the start, and shared by its answers, so no memory is held for it.
  if (typeof content === "string" && content.length > uncountedBytes) await hold(Buffer.byteLength(content));
  return content;
}

/** The body of a small answer that is no page. */
export function contentNow({ body, text }: Pick<Answer, "body" | "text">): string | Buffer | undefined {
  return body ? JSON.stringify(body) : text;
}
