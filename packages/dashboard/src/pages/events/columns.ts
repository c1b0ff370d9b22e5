import { columnsName, type Search } from "../../app/search.ts";

/** The most columns that the list has room for. */
export const mostColumns = 3;

/** A reviver's third argument: the text of a number as it was sent. */
interface Source {
  readonly source?: string;
}

/** The same in each browser that tells the sources of numbers; the types do not have it yet. */
const exact = JSON as typeof JSON & { rawJSON?: (text: string) => unknown };

const pointerForm = /^(?:\/(?:[^~/]|~[01])*)+$/;

/** The columns in an address: JSON Pointers (RFC 6901) into payloads. */
export function columnsOf(search: Search): readonly string[] {
  const columns = (search[columnsName] ?? "").split("\n").filter((column) => pointerForm.test(column));
  return [...new Set(columns)].slice(0, mostColumns);
}

/** The change of an address that makes these the columns. */
export function columnsChange(columns: readonly string[]): Readonly<Record<string, string>> {
  return { [columnsName]: columns.join("\n") };
}

/** Why a text cannot be the next column; undefined where it can. */
export function problemOfColumn(column: string, columns: readonly string[]): string | undefined {
  if (!pointerForm.test(column)) return "A JSON Pointer begins with a slash, for example /order/id.";
  if (columns.includes(column)) return `${column} is a column already.`;
  return columns.length >= mostColumns ? `The list has room for ${mostColumns} columns.` : undefined;
}

/**
 * The value in a payload at a JSON Pointer: a text as it is, everything else as JSON, numbers with every digit.
 * Undefined where the payload has none, or is no JSON.
 */
export function valueAt(payload: string, pointer: string): string | undefined {
  const tokens = pointer.split("/").slice(1).map((token) => token.replaceAll("~1", "/").replaceAll("~0", "~"));
  try {
    const found = valueIn(JSON.parse(payload), tokens);
    if (found === undefined || typeof found === "string") return found;
    return JSON.stringify(valueIn(JSON.parse(payload, withDigits), tokens));
  } catch {
    return undefined;
  }
}

function valueIn(document: unknown, tokens: readonly string[]): unknown {
  let found = document;
  for (const token of tokens) {
    if (typeof found !== "object" || found === null || !Object.hasOwn(found, token)) return undefined;
    // An array's own length is not in its text.
    if (Array.isArray(found) && token === "length") return undefined;
    found = (found as Readonly<Record<string, unknown>>)[token];
  }
  return found;
}

function withDigits(_name: string, value: unknown, { source }: Source = {}): unknown {
  return typeof value === "number" && source !== undefined && exact.rawJSON ? exact.rawJSON(source) : value;
}
