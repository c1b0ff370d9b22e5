import { Readable } from "node:stream";
import type { PageInParts } from "../../application/paging.ts";

/** A page of up to so many characters is sent as one text; a larger one is streamed. */
const wholeCharacters = 1024 * 1024;

/**
 * The JSON of a page: a text, or for a large one a stream that reads no more of it than the client takes. Throws what
 * the page's parts throw; what they throw later ends the stream, and so the connection.
 */
export async function pageBody(page: PageInParts<object>): Promise<string | Readable> {
  const pieces = piecesOf(page);
  let text = "";
  while (text.length <= wholeCharacters) {
    const { done, value } = await pieces.next();
    if (done) return text;
    text += value;
  }
  return Readable.from(following(text, pieces));
}

async function* piecesOf({ total, parts }: PageInParts<object>): AsyncGenerator<string, void> {
  yield `{"total":${total},"items":[`;
  let separator = "";
  for await (const part of parts) {
    for (const item of part) {
      yield separator + JSON.stringify(item);
      separator = ",";
    }
  }
  yield "]}";
}

async function* following(text: string, pieces: AsyncIterable<string>): AsyncGenerator<string, void> {
  yield text;
  yield* pieces;
}
