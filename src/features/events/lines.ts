import type { ExportPart } from "./export.ts";

/** The content type of lines that are each a JSON value. */
export const jsonLines = "application/x-ndjson";

/** Memory of such an answer, bytes: as that of a streamed page. */
export const linesBytes = 1024 * 1024;
/** Characters of a piece, unless one part alone has more. */
const pieceCharacters = 64 * 1024;

/** Values as lines of JSON. */
export async function* linesOf(parts: AsyncIterable<readonly object[]>): AsyncGenerator<string, void> {
  for await (const part of parts) yield part.map((line) => `${JSON.stringify(line)}\n`).join("");
}

/** An export as lines of JSON. Attempts and facts are written as they are read: an event may have many. */
export async function* exportLinesOf(parts: AsyncIterable<ExportPart>): AsyncGenerator<string, void> {
  for await (const part of parts) {
    if (!("events" in part)) {
      yield `${JSON.stringify(part)}\n`;
      continue;
    }
    let text = "";
    for (const { event, attempts, history } of part.events) {
      text += `{"item":${JSON.stringify(event).slice(0, -1)}`;
      for (const [name, items] of Object.entries({ attempts, history })) {
        if (items === undefined) continue;
        text += `,"${name}":${items === null ? "null" : "["}`;
        if (items === null) continue;
        let separator = "";
        for await (const some of items) {
          for (const item of some) {
            text += separator + JSON.stringify(item);
            separator = ",";
          }
          if (text.length < pieceCharacters) continue;
          yield text;
          text = "";
        }
        text += "]";
      }
      text += "}}\n";
    }
    if (text !== "") yield text;
  }
}
