import { Readable } from "node:stream";
import type { Context } from "koa";
import type { Answer } from "../../kernel/operations/operation.ts";
import type { PageInParts } from "../../kernel/read-models/paging.ts";
import { uncountedBytes, type AnswerMemory, type HoldAnswer } from "../memory/request-memory.ts";
import { json, plainText } from "./send.ts";

/** A body that Koa sends. */
export type Content = string | Buffer | Readable;

interface Begun {
  readonly text: string;
  readonly others: AsyncIterable<string>;
}

const heldAlready: AnswerMemory = { hold: async () => undefined, release: () => undefined };
/** A page of up to so many characters is sent as one text; a larger one is streamed in pieces of about that size. */
const wholeCharacters = 192 * 1024;
/** Memory of a streamed page, bytes: a part of it as read, its text, and as much in the socket. */
const streamedBytes = 1024 * 1024;
/** Memory of a page while it waits, bytes: the references from which its parts are read. */
const waitingBytes = 128 * 1024;

/** Sends an answer; without content it has no body. */
export function answer(context: Context, { status, body, page, type, headers }: Answer, content?: Content): void {
  context.status = status;
  for (const [name, value] of Object.entries(headers ?? {})) context.set(name, value as string | string[]);
  if (content !== undefined) context.type = body ?? page ? json : type ?? plainText;
  context.body = content ?? null;
}

/** Answers 404. */
export function answerUnknownPath(context: Context): void {
  answer(context, { status: 404 }, "no such path");
}

/** Answers 204 to OPTIONS, else 405. */
export function answerOtherMethod(context: Context, methods: readonly string[]): void {
  context.set("Allow", [...new Set([...methods, "OPTIONS"])].sort().join(", "));
  if (context.method === "OPTIONS") answer(context, { status: 204 });
  else answer(context, { status: 405 }, "method not allowed");
}

/** The body of an answer, once there is memory for it. `failed` gets an error of a stream that has begun. */
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
  // A Buffer is shared by all its answers: no memory is held for it.
  if (typeof content === "string" && content.length > uncountedBytes) await hold(Buffer.byteLength(content));
  return content;
}

/** The body of an answer without a page or a stream. */
export function contentNow({ body, text }: Pick<Answer, "body" | "text">): string | Buffer | undefined {
  return body ? JSON.stringify(body) : text;
}

/** The JSON of a page, once there is memory for it; a large one at the client's pace, cut off by a late error. */
export async function pageBody(page: PageInParts<object>, hold: HoldAnswer): Promise<string | Readable> {
  const { text } = await begun(page);
  if (text.length <= wholeCharacters) return text;
  await hold(streamedBytes, waitingBytes);
  // Read again: the waiting page kept nothing.
  return Readable.from(wholeOf(await begun(page)), { highWaterMark: 0 });
}

async function begun(page: PageInParts<object>): Promise<Begun> {
  const others = textsOf(page);
  const { value: text = "" } = await others.next();
  return { text, others };
}

async function* wholeOf({ text, others }: Begun): AsyncGenerator<string, void> {
  yield text;
  yield* others;
}

/** Texts of more than `wholeCharacters`, the last one of less. */
async function* textsOf({ total, parts, nextCursor }: PageInParts<object>): AsyncGenerator<string, void> {
  let text = `{${total === undefined ? "" : `"total":${total},`}"items":[`;
  let separator = "";
  for await (const part of parts) {
    for (const item of part) {
      text += separator + JSON.stringify(item);
      separator = ",";
      if (text.length <= wholeCharacters) continue;
      yield text;
      text = "";
    }
  }
  yield `${text}],"nextCursor":${JSON.stringify(nextCursor)}}`;
}

/** A body of texts, read at the client's pace; a large text holds memory. `failed` gets an error, which cuts it off. */
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
