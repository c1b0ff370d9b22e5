import { Binary, type Document as Stored, type UUID } from "mongodb";
import { uuidForm } from "../../kernel/domain/uuid.ts";
import type { CollectionDefinition, Document, FieldKind, FieldValue } from "../../kernel/ports/read-models.ts";
import { highestBucket, lowestBucket, kindOf, unmatched } from "../../kernel/read-models/engine/queries.ts";

/** Ids as 16 bytes, times as dates, `json` as text, `numbers` as documents; all sort as the port says. */
export type StoredValue = null | boolean | number | string | Date | Binary | Readonly<Record<string, number>>;

/** A field's stored value, or {@link unmatched} if the kind cannot hold it. */
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

export function decodeDocument(definition: CollectionDefinition, stored: Stored): Document {
  const document: Record<string, FieldValue> = {};
  for (const field in definition.fields) {
    document[field] = decode(definition.fields[field] ?? "json", stored[storedName(definition, field)]);
  }
  return document;
}

/** The stored name of a field; the key's is `_id`. */
export function storedName(definition: CollectionDefinition, field: string): string {
  return field === definition.key ? "_id" : field;
}

/** Throws a TypeError if the field cannot hold the value. */
export function storable(definition: CollectionDefinition, field: string, value: FieldValue): StoredValue {
  const kind = kindOf(definition, field);
  const encoded = encode(kind, value);
  if (encoded === unmatched) throw new TypeError(`${definition.name}.${field}: not a value of kind ${kind}`);
  return encoded;
}

const digits = 17;

/** A counter's id: ids of one scope are adjacent, in the order of buckets. */
export function counterId(scope: string, bucket: number): string {
  const within = Math.min(Math.max(bucket, lowestBucket), highestBucket);
  const place = (BigInt(within) - BigInt(lowestBucket)).toString().padStart(digits, "0");
  return `${scope}\n${place}`;
}

/** The bucket in a counter's id. */
export function bucketOf(id: string): number {
  return Number(BigInt(id.slice(-digits)) + BigInt(lowestBucket));
}
