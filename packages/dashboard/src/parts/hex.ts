const bytesOfLine = 8;
const encoder = new TextEncoder();

/** Characters that no text has. */
const odd = /(?![\t\n\v\f\r\u007F-\u009F])\p{Cc}|\uFFFD/gu;
/** A text may have a few of them. */
const mostOdd = 0.05;

/** Whether an answer is binary. */
export function isBinary(body: string): boolean {
  return (body.match(odd)?.length ?? 0) > body.length * mostOdd;
}

/**
 * A binary answer as hexadecimal digits, eight bytes a line, with the letters among them. The relay keeps answers as
 * text: bytes that are no UTF-8 came to it as U+FFFD, and show as `··`.
 */
export function hexText(text: string): string {
  const bytes = [...text].flatMap((letter): readonly string[] =>
    (letter === "\uFFFD" ? ["··"] : [...encoder.encode(letter)].map((byte) => byte.toString(16).padStart(2, "0"))));
  const lines: string[] = [];
  for (let at = 0; at < bytes.length; at += bytesOfLine) {
    const line = bytes.slice(at, at + bytesOfLine);
    lines.push(`${line.join(" ").padEnd(bytesOfLine * 3)} ${line.map(letterOf).join("")}`);
  }
  return lines.join("\n");
}

function letterOf(byte: string): string {
  const code = Number.parseInt(byte, 16);
  return code > 0x20 && code < 0x7F ? String.fromCharCode(code) : "·";
}
