import type { Values } from "./changes.ts";

type Reviver = (name: string, value: unknown, context: { readonly source?: string }) => unknown;

/** A number as it is written. */
class Written {
  readonly digits: string;

  constructor(digits: string) {
    this.digits = digits;
  }
}

/** The values of a JSON text that have no parts, by JSON Pointer, as JSON with every digit. */
export function leavesOf(text: string): Values {
  const asWritten: Reviver = (_name, value, { source }) =>
    typeof value === "number" ? new Written(source ?? String(value)) : value;
  const value = (JSON.parse as (text: string, reviver: Reviver) => unknown)(text, asWritten);
  return Object.fromEntries(leavesWithin(value, ""));
}

function leavesWithin(value: unknown, path: string): readonly (readonly [string, string])[] {
  if (value instanceof Written) return [[path, value.digits]];
  const parts = typeof value === "object" && value !== null ? Object.entries(value) : [];
  if (parts.length === 0) return [[path, JSON.stringify(value)]];
  return parts.flatMap(([name, part]) => leavesWithin(part, `${path}/${escaped(name)}`));
}

function escaped(name: string): string {
  return name.replaceAll("~", "~0").replaceAll("/", "~1");
}
