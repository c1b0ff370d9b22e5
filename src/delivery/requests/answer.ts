import type { Answer } from "../../features/events/facts.ts";
import type { OutboundAnswer } from "../../kernel/ports/outbound.ts";

/** How much of a receiver's answer is kept in the log. */
export const keptBodyBytes = 16_384;
/**
 * The most bytes of JSON that the kept body may take: enough for any text whose escapes are of two characters, as in
 * JSON. Control characters take six each, and would let the log grow by six times the kept bytes.
 */
const keptJsonBytes = 2 * keptBodyBytes;
const longestEscape = 6;
const keptHeaders = 64;
const keptHeaderChars = 8_192;

/** An answer as the log keeps it: headers within bounds, the body as text. */
export function keptAnswer({ statusCode, headers, body, truncated }: OutboundAnswer): Answer {
  const text = textOf(body, truncated);
  const kept = boundedText(text);
  const cut = truncated || kept.length < text.length;
  return { statusCode, headers: boundedHeaders(headers), body: kept, truncated: cut };
}

function boundedHeaders(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const kept: [string, string][] = [];
  let room = keptHeaderChars;
  for (const [name, value] of Object.entries(headers).slice(0, keptHeaders)) {
    room -= name.length + value.length;
    if (room < 0) break;
    kept.push([name.toLowerCase(), value]);
  }
  return Object.fromEntries(kept);
}

const newDecoder = () => new TextDecoder("utf-8", { ignoreBOM: true });
const wholes = newDecoder();

/** Decodes UTF-8, with the replacement character for invalid bytes; a cut-off last character is left out. */
function textOf(body: Uint8Array, truncated: boolean): string {
  return truncated ? newDecoder().decode(body, { stream: true }) : wholes.decode(body);
}

/** As much of a text as its bounds as JSON allow, in whole characters. */
function boundedText(text: string): string {
  if (text.length * longestEscape <= keptJsonBytes) return text;
  let room = keptJsonBytes;
  for (let at = 0; at < text.length; at += 1) {
    room -= jsonBytesOf(text.charCodeAt(at));
    // The first half of a surrogate pair is left out.
    if (room < 0) return text.slice(0, at).replace(/[\ud800-\udbff]$/, "");
  }
  return text;
}

const asciiBytes = Array.from({ length: 0x80 }, (_, unit) => JSON.stringify(String.fromCharCode(unit)).length - 2);

/** How many bytes one UTF-16 unit of a well-formed text takes in JSON. */
function jsonBytesOf(unit: number): number {
  if (unit < 0x80) return asciiBytes[unit] ?? 1;
  // A character beyond U+FFFF is of two units and four bytes.
  return unit < 0x800 || (unit >= 0xd800 && unit < 0xe000) ? 2 : 3;
}
