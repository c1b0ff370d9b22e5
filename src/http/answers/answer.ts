import type { Context } from "koa";
import type { Answer } from "../../kernel/operations/operation.ts";
import type { Content } from "./content.ts";
import { json, plainText } from "./send.ts";

/** Gives an answer with its content; without content it has no body. */
export function answer(context: Context, { status, body, page, type, headers }: Answer, content?: Content): void {
  context.status = status;
  for (const [name, value] of Object.entries(headers ?? {})) context.set(name, value as string | string[]);
  if (content !== undefined) context.type = body ?? page ? json : type ?? plainText;
  context.body = content ?? null;
}

/** Answers that nothing is at this path. */
export function answerUnknownPath(context: Context): void {
  answer(context, { status: 404 }, "no such path");
}

/** Answers which methods the path has: 204 to OPTIONS, else 405. */
export function answerOtherMethod(context: Context, methods: readonly string[]): void {
  context.set("Allow", [...new Set([...methods, "OPTIONS"])].sort().join(", "));
  if (context.method === "OPTIONS") answer(context, { status: 204 });
  else answer(context, { status: 405 }, "method not allowed");
}
