import { Readable } from "node:stream";
import type { PageInParts } from "../../kernel/read-models/paging.ts";
import type { HoldAnswer } from "../memory/request-memory.ts";

/** A page of up to so many characters is sent as one text; a larger one is streamed in pieces of about that size. */
const wholeCharacters = 192 * 1024;
/** Memory of a streamed page, bytes: a part of it as read, its text, and as much in the socket. */
const streamedBytes = 1024 * 1024;
/** Memory of a page while it waits, bytes: the references from which its parts are read. */
const waitingBytes = 128 * 1024;

/**
 * The JSON of a page: a text, or for a large page a stream, once there is memory for it. The stream is read no faster
 * than the client reads it. Throws the errors of `hold` and of the page's parts; a later error ends the stream, and so
 * the connection.
 */
export async function pageBody(page: PageInParts<object>, hold: HoldAnswer): Promise<string | Readable> {
  const { text } = await begun(page);
  if (text.length <= wholeCharacters) return text;
  await hold(streamedBytes, waitingBytes);
  // Read again: nothing of the page was kept while it waited.
  return Readable.from(wholeOf(await begun(page)), { highWaterMark: 0 });
}

interface Begun {
  /** The only one of the page, unless it is longer than `wholeCharacters`. */
  readonly text: string;
  readonly others: AsyncIterable<string>;
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
