import { format } from "jsonc-parser";

/** A JSON text with a line for each member; any other text as it is. Only white space changes: every digit stays. */
export function indented(text: string): string {
  if (!isJson(text)) return text;
  const pieces: string[] = [];
  let end = 0;
  for (const { offset, length, content } of format(text, undefined, { insertSpaces: true, tabSize: 2, eol: "\n" })) {
    pieces.push(text.slice(end, offset), content);
    end = offset + length;
  }
  return [...pieces, text.slice(end)].join("");
}

/** Whether a text is JSON. */
export function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
