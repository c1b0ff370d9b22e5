import { format } from "jsonc-parser";

/**
 * JSON with a line for each member. White space alone changes: every digit stays. Undefined where the text is no JSON.
 */
export function formatJson(text: string): string | undefined {
  try {
    JSON.parse(text);
  } catch {
    return undefined;
  }
  const edits = format(text, undefined, { insertSpaces: true, tabSize: 2, eol: "\n" });
  const pieces: string[] = [];
  let end = 0;
  for (const { offset, length, content } of edits) {
    pieces.push(text.slice(end, offset), content);
    end = offset + length;
  }
  return [...pieces, text.slice(end)].join("");
}
