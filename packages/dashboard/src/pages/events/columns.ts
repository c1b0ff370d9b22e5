import { columnsName, type Search } from "../../app/search.ts";

/** The most columns that the list has room for. */
export const mostColumns = 3;

/** A reviver's third argument: the text of a number as it was sent. */
interface Source {
  readonly source?: string;
}

/** The same in each browser that tells the sources of numbers; the types do not have it yet. */
const exact = JSON as typeof JSON & { rawJSON?: (text: string) => unknown };

/** Pointers that the relay takes as columns. */
const pointerForm = /^(?=.{2,255}$)(?:\/(?:[^~/,\p{Cc}]|~[01])*)+$/u;

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
  if (!pointerForm.test(column)) return "A JSON Pointer begins with a slash and has no comma, for example /order/id.";
  if (columns.includes(column)) return `${column} is a column already.`;
  return columns.length >= mostColumns ? `The list has room for ${mostColumns} columns.` : undefined;
}

/** The parameter of the list for columns; none without columns. */
export function columnsParameter(columns: readonly string[]): { readonly Columns?: string[] } {
  return columns.length === 0 ? {} : { Columns: [...columns] };
}

/** The text of a value from its JSON, which the relay may have cut: a text as it is, everything else as JSON. */
export function columnText(json: string | null): string {
  if (json === null || !json.startsWith('"')) return json ?? "–";
  try {
    return JSON.parse(json) as string;
  } catch {
    return `${json.slice(1)}…`;
  }
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
