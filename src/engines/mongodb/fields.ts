import { Binary, type Document as Stored, type UUID } from "mongodb";
import { uuidForm } from "../../kernel/domain/uuid.ts";
import type { CollectionDefinition, Document, FieldKind, FieldValue } from "../../kernel/ports/read-models.ts";
import { highestBucket, lowestBucket, kindOf, unmatched } from "../../kernel/read-models/engine/queries.ts";

/**
 * A field's value in MongoDB: ids as 16 bytes, times as dates, `json` as text, `numbers` as documents; each sorts as
 * the port says.
 */
export type StoredValue = null | boolean | number | string | Date | Binary | Readonly<Record<string, number>>;

/** A field's value as it is stored, or {@link unmatched} where no field of the kind can hold it. */
export function encode(kind: FieldKind, value: FieldValue): StoredValue | typeof unmatched {
  if (value === null) return null;
  switch (kind) {
    case "id":
      return typeof value === "string" && uuidForm.test(value)
        ? new Binary(Buffer.from(value.replaceAll("-", ""), "hex"), Binary.SUBTYPE_UUID)
        : unmatched;
    case "time": {
      const ms = typeof value === "string" ? Date.parse(value) : NaN;
      return Number.isNaN(ms) ? unmatched : new Date(ms);
    }
    case "boolean":
      return typeof value === "boolean" ? value : unmatched;
    case "number":
      return Number.isSafeInteger(value) ? (value as number) : unmatched;
    case "text":
      return typeof value === "string" ? value : unmatched;
    case "json":
      return JSON.stringify(value);
    case "numbers":
      return value as Readonly<Record<string, number>>;
  }
}

/** A stored value as the field's value. */
export function decode(kind: FieldKind, value: unknown): FieldValue {
  if (value === null || value === undefined) return null;
  switch (kind) {
    case "id":
      return (value as UUID).toString();
    case "time":
      return (value as Date).toISOString();
    case "json":
      return JSON.parse(value as string) as FieldValue;
    case "boolean":
    case "text":
    case "number":
    case "numbers":
      return value;
  }
}

/** A stored document as the port's. */
export function decodeDocument(definition: CollectionDefinition, stored: Stored): Document {
  const document: Record<string, FieldValue> = {};
  for (const field in definition.fields) {
    document[field] = decode(definition.fields[field] ?? "json", stored[storedName(definition, field)]);
  }
  return document;
}

/** A field's name in MongoDB: that of the key is `_id`. */
export function storedName(definition: CollectionDefinition, field: string): string {
  return field === definition.key ? "_id" : field;
}

/** A value to be stored. Throws a TypeError where the field cannot hold it. */
export function storable(definition: CollectionDefinition, field: string, value: FieldValue): StoredValue {
  const kind = kindOf(definition, field);
  const encoded = encode(kind, value);
  if (encoded === unmatched) throw new TypeError(`${definition.name}.${field}: not a value of kind ${kind}`);
  return encoded;
}

const digits = 17;

/** The id of a counter: those of one scope are adjacent, in the order of their buckets. */
export function counterId(scope: string, bucket: number): string {
  const within = Math.min(Math.max(bucket, lowestBucket), highestBucket);
  const place = (BigInt(within) - BigInt(lowestBucket)).toString().padStart(digits, "0");
  return `${scope}\n${place}`;
}

/** The bucket of a counter with this id. */
export function bucketOf(id: string): number {
  return Number(BigInt(id.slice(-digits)) + BigInt(lowestBucket));
}
