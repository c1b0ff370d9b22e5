import { isUtf8 } from "node:buffer";
import { refuse } from "../domain/refusal.ts";

/** A JSON object: its text and its value. */
export interface JsonObject {
  /** As received: encoding it as UTF-8 gives the received bytes. */
  readonly text: string;
  readonly value: object;
}

/** An object without fields. */
export function noFields(): JsonObject {
  return { text: "{}", value: {} };
}

const deepest = 128;
const afterString = /[ \t\r\n]*:/y;

/** Reads a JSON object from bytes. Throws a Refusal (invalid) that names the `field`. */
export function parseJsonObject(bytes: Buffer, field = "body"): JsonObject {
  const marked = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
  if (marked) refuse("invalid", `${field}: must not begin with a byte order mark`);
  if (!isUtf8(bytes)) refuse("invalid", `${field}: must be UTF-8`);
  if (bytes.length === 0) refuse("invalid", `${field}: is empty; send a JSON object`);
  const text = bytes.toString("utf8");
  if (isDeeperThan(text, deepest)) refuse("invalid", `${field}: must not be nested deeper than ${deepest}`);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    refuse("invalid", `${field}: must be valid JSON`);
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    refuse("invalid", `${field}: must be a JSON object`);
  }
  return { text, value };
}

function isDeeperThan(text: string, limit: number): boolean {
  // Nesting needs two characters a level: most payloads are too short to reach it.
  if (text.length < 2 * limit) return false;
  let depth = 0;
  for (let index = 0; index < text.length; index += 1) {
    switch (text.charCodeAt(index)) {
      case 0x22:
        index = endOfString(text, index);
        break;
      case 0x5b:
      case 0x7b:
        depth += 1;
        if (depth > limit) return true;
        break;
      case 0x5d:
      case 0x7d:
        depth -= 1;
        break;
    }
  }
  return false;
}

/** The first name that an object within the text, which is JSON, has twice; undefined where none has. */
export function repeatedName(text: string): string | undefined {
  const open: Set<string>[] = [];
  for (let index = 0; index < text.length; index += 1) {
    switch (text.charCodeAt(index)) {
      case 0x22: {
        const end = endOfString(text, index);
        afterString.lastIndex = end + 1;
        if (afterString.test(text)) {
          const name = JSON.parse(text.slice(index, end + 1)) as string;
          const names = open.at(-1);
          if (names?.has(name)) return name;
          names?.add(name);
        }
        index = end;
        break;
      }
      case 0x5b:
      case 0x7b:
        open.push(new Set());
        break;
      case 0x5d:
      case 0x7d:
        open.pop();
        break;
    }
  }
  return undefined;
}

/** The text of a member of an object, whose text is JSON, as it is there; of the last one where it has several. */
export function memberText(object: string, name: string): string | undefined {
  let depth = 0;
  let found: string | undefined;
  let start: number | undefined;
  const endMember = (end: number) => {
    if (start !== undefined) found = object.slice(start, end).trim();
    start = undefined;
  };
  for (let index = 0; index < object.length; index += 1) {
    switch (object.charCodeAt(index)) {
      case 0x22: {
        const end = endOfString(object, index);
        afterString.lastIndex = end + 1;
        if (depth === 1 && afterString.test(object) && JSON.parse(object.slice(index, end + 1)) === name) {
          start = afterString.lastIndex;
        }
        index = end;
        break;
      }
      case 0x2c:
        if (depth === 1) endMember(index);
        break;
      case 0x5b:
      case 0x7b:
        depth += 1;
        break;
      case 0x5d:
      case 0x7d:
        depth -= 1;
        if (depth === 0) endMember(index);
        break;
    }
  }
  return found;
}

function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let backslashes = 0;
    while (text.charCodeAt(end - 1 - backslashes) === 0x5c) backslashes += 1;
    if (backslashes % 2 === 0) return end;
  }
  return text.length;
}
