import type { Fields } from "../../parts/fields.ts";

type Optional<Name extends string, Value> = Partial<Record<Name, Value | null>>;

/** The changed texts of optional settings, an empty one as null. */
export function textsIn<Name extends string>(changed: Fields, ...names: Name[]): Optional<Name, string> {
  return valuesIn(changed, names, (text) => text);
}

/** The changed numbers of optional settings, an empty one as null. */
export function numbersIn<Name extends string>(changed: Fields, ...names: Name[]): Optional<Name, number> {
  return valuesIn(changed, names, Number);
}

function valuesIn<Name extends string, Value>(
  changed: Fields, names: readonly Name[], valueOf: (text: string) => Value,
): Optional<Name, Value> {
  const given = names.filter((name) => changed[name] !== undefined).map((name) => {
    const text = changed[name] ?? "";
    return [name, text === "" ? null : valueOf(text)] as const;
  });
  return Object.fromEntries(given) as Optional<Name, Value>;
}

/** Whether a setting, or a part of it such as `circuit.timer`, was changed. */
export function changesPart(changed: Fields, name: string): boolean {
  return Object.keys(changed).some((field) => field === name || field.startsWith(`${name}.`));
}

/** The parts of a text that commas or spaces separate. */
export function listOf(text = ""): string[] {
  return text.split(/[\s,]+/).filter((part) => part !== "");
}

/** The text of a field for an optional setting. */
export function textOf(value: string | number | null): string {
  return value === null ? "" : String(value);
}
