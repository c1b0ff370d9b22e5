import type { SQLInputValue, SQLOutputValue } from "node:sqlite";
import { millis } from "../../../../src/kernel/domain/time.ts";
import type {
  CollectionDefinition, Document, FieldKind, FieldValue,
} from "../../../../src/kernel/ports/read-models.ts";
import { unmatched, columnsOf } from "../../../../src/kernel/read-models/engine/queries.ts";

/** Column types: ids as 16 bytes and times as integers keep indexes small. */
const columnTypes: Readonly<Record<FieldKind, string>> = {
  id: "BLOB",
  text: "TEXT",
  number: "INTEGER",
  boolean: "INTEGER",
  time: "INTEGER",
  json: "TEXT",
  numbers: "TEXT",
};

/** A field's value for its column; {@link unmatched} if it cannot hold it. `room`: reusable bytes of an id. */
export function encode(kind: FieldKind, value: FieldValue, room?: Uint8Array): SQLInputValue | typeof unmatched {
  if (value === null) return null;
  switch (kind) {
    case "id":
      return (typeof value === "string" && uuidBytes(value, room)) || unmatched;
    case "time": {
      const ms = typeof value === "string" ? millis(value) : NaN;
      return Number.isNaN(ms) ? unmatched : ms;
    }
    case "boolean":
      return typeof value === "boolean" ? Number(value) : unmatched;
    case "number":
      return typeof value === "number" ? value : unmatched;
    case "text":
      return typeof value === "string" ? value : unmatched;
    case "json":
      return JSON.stringify(value);
    case "numbers":
      // Sorted, so that the bytes do not depend on the order of additions.
      return JSON.stringify(byName(value as object));
  }
}

/** Integers in the order of their names; the same object if it is sorted. */
export function byName<Numbers extends object>(numbers: Numbers): Numbers {
  let last = "";
  for (const name in numbers) {
    if (name < last) {
      return Object.fromEntries(Object.entries(numbers).sort(([one], [other]) => (one < other ? -1 : 1))) as Numbers;
    }
    last = name;
  }
  return numbers;
}

export function decode(kind: FieldKind, value: SQLOutputValue): FieldValue {
  if (value === null) return null;
  switch (kind) {
    case "id":
      return uuidText(value as Uint8Array);
    case "time":
      return new Date(value as number).toISOString();
    case "boolean":
      return value === 1;
    case "json":
    case "numbers":
      return JSON.parse(value as string) as FieldValue;
    case "text":
    case "number":
      return value as string | number;
  }
}

/** A row, its columns in the order of the definition's fields, as a document. */
export function decodeRow(definition: CollectionDefinition, row: readonly SQLOutputValue[]): Document {
  const document: Record<string, FieldValue> = {};
  let column = 0;
  for (const field in definition.fields) {
    document[field] = decode(definition.fields[field] ?? "json", row[column] ?? null);
    column += 1;
  }
  return document;
}

export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** The quoted table of a collection: `c`, or during a rewrite the new `n` and the old `o`. */
export function tableOf(definition: CollectionDefinition, prefix: "c" | "n" | "o" = "c"): string {
  return quoted(`${prefix}_${definition.name}`);
}

/** The statements for a collection's table and indexes; `prefix` tells the indexes of two tables apart. */
export function schemaOf(
  definition: CollectionDefinition, table = tableOf(definition), prefix: "i" | "j" = "i",
): [table: string, ...indexes: string[]] {
  const columns = Object.entries(definition.fields).map(
    ([field, kind]) => `${quoted(field)} ${columnTypes[kind]}${field === definition.key ? " PRIMARY KEY" : ""}`,
  );
  const indexes = definition.indexes.map((index) => {
    const name = quoted(`${prefix}_${definition.name}_${index.join("_")}`);
    return `CREATE INDEX ${name} ON ${table} (${columnsOf(definition, index).map(quoted).join(", ")})`;
  });
  return [`CREATE TABLE ${table} (${columns.join(", ")}) STRICT, WITHOUT ROWID`, ...indexes];
}

/** The values of lower-case hexadecimal digits by character code; -1 for all others. */
const digits = new Int8Array(128).fill(-1);
for (let value = 0; value < 16; value += 1) digits[value.toString(16).charCodeAt(0)] = value;

const length = 36;
const dash = "-".charCodeAt(0);

/** The bytes of a lower-case UUID, written to `bytes`; undefined for any other text. */
function uuidBytes(text: string, bytes: Uint8Array = new Uint8Array(16)): Uint8Array | undefined {
  if (text.length !== length) return undefined;
  let at = 0;
  for (let byte = 0; byte < 16; byte += 1) {
    if ((at === 8 || at === 13 || at === 18 || at === 23) && text.charCodeAt(at++) !== dash) return undefined;
    const high = digits[text.charCodeAt(at++)] ?? -1;
    const low = digits[text.charCodeAt(at++)] ?? -1;
    if (high < 0 || low < 0) return undefined;
    bytes[byte] = (high << 4) | low;
  }
  return bytes;
}

function uuidText(bytes: Uint8Array): string {
  const hex = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
