/** The values of fields, as text; null and undefined show as none. */
export type Values = Readonly<Record<string, string | number | boolean | null | undefined>>;

/** A field whose value is another one now. */
interface FieldChange {
  readonly field: string;
  readonly before: string | null;
  readonly after: string | null;
}

/** The fields whose values differ, in the order of the fields after. */
export function changesOf(before: Values, after: Values): readonly FieldChange[] {
  const fields = [...new Set([...Object.keys(after), ...Object.keys(before)])];
  return fields
    .map((field) => ({ field, before: textOf(before[field]), after: textOf(after[field]) }))
    .filter((change) => change.before !== change.after);
}

function textOf(value: Values[string]): string | null {
  return value == null ? null : String(value);
}
