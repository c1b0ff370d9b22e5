import { pathOf, valueAt } from "../../kernel/domain/json-pointer.ts";

/** A condition on payloads: a text that they contain, or a value at a place in them (RFC 6901). */
export type PayloadCondition =
  | { readonly text: string }
  | { readonly pointer: string; readonly value: string };

/** Numbers of at most so many characters are exact in every form. */
const exactCharacters = 15;
const around = 60;
const columnCharacters = 200;

/** Checks payloads against a condition; returns the match with some text around it, or null. */
export function payloadMatcher(condition: PayloadCondition): (payload: string) => string | null {
  if ("text" in condition) return (payload) => textMatch(decoded(payload), condition.text);
  const { value } = condition;
  const path = pathOf(condition.pointer);
  return (payload) => (hasValue(payload, path, value) ? value : null);
}

/** The JSON texts of a payload at these pointers, numbers as they are written, cut; null where there is none. */
export function columnsOf(pointers: readonly string[]): (payload: string) => readonly (string | null)[] {
  const paths = pointers.map(pathOf);
  return (payload) => {
    const document: unknown = JSON.parse(payload);
    const found = paths.map((path) => valueAt(document, path));
    const mayHaveNumbers = found.some((value) => typeof value === "number" || typeof value === "object");
    const written = mayHaveNumbers ? (JSON.parse as Parse)(payload, raw) : document;
    return found.map((value, at) =>
      (value === undefined ? null : cutText(JSON.stringify(valueAt(written, paths[at]!)))));
  };
}

function cutText(text: string): string {
  return [...text.slice(0, 2 * columnCharacters)].slice(0, columnCharacters).join("");
}

const backslash = 0x5c;
const escapes = new Map([..."bfnrt"].map((letter, at) => [letter, "\b\f\n\r\t".charCodeAt(at)]));

/** A JSON text with its escapes decoded, unit by unit: a regular expression takes ten times as long. */
function decoded(json: string): string {
  if (!json.includes("\\")) return json;
  const units = new Uint16Array(json.length);
  let length = 0;
  for (let at = 0; at < json.length; at += 1) {
    let unit = json.charCodeAt(at);
    if (unit === backslash) {
      at += 1;
      const letter = json.charAt(at);
      if (letter === "u") {
        unit = Number.parseInt(json.slice(at + 1, at + 5), 16);
        at += 4;
      } else unit = escapes.get(letter) ?? json.charCodeAt(at);
    }
    units[length] = unit;
    length += 1;
  }
  return Buffer.from(units.buffer, 0, 2 * length).toString("utf16le");
}

function textMatch(document: string, text: string): string | null {
  const at = document.indexOf(text);
  if (at < 0) return null;
  // A pair of surrogates is one character.
  const begin = Math.max(0, at - around);
  const end = Math.min(document.length, at + text.length + around);
  return document.slice(begin, end).replace(/^[\udc00-\udfff]/, "").replace(/[\ud800-\udbff]$/, "");
}

function hasValue(payload: string, path: readonly string[], value: string): boolean {
  const found = valueAt(JSON.parse(payload), path);
  if (typeof found === "string") return found === value;
  if (typeof found === "boolean" || found === null) return String(found) === value;
  if (typeof found !== "number" || found !== Number(value)) return false;
  if (String(found) === value && value.length <= exactCharacters) return true;
  return valueAt(withNumbersAsWritten(payload), path) === value;
}

type Reviver = (key: string, value: unknown, context: { readonly source?: string }) => unknown;
/** The types of the language lack sources of numbers. */
type Parse = (text: string, reviver: Reviver) => unknown;
const exact = JSON as typeof JSON & { readonly rawJSON: (text: string) => unknown };

const raw: Reviver = (_key, value, { source }) => (typeof value === "number" ? exact.rawJSON(source!) : value);

/** The document with the source text of each number in its stead. */
function withNumbersAsWritten(payload: string): unknown {
  const asWritten: Reviver = (_key, value, { source }) => (typeof value === "number" ? source : value);
  return (JSON.parse as Parse)(payload, asWritten);
}
