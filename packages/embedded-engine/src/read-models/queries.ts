import type { DatabaseSync, SQLInputValue, SQLOutputValue } from "node:sqlite";
import type {
  Bucket, CollectionDefinition, Document, FieldRange, FieldValue, Query, Selection,
} from "../../../../src/kernel/ports/read-models.ts";
import {
  highestBucket, lowestBucket, kindOf, unmatched, orderFieldOf, partsOf, type Part, type Beyond,
} from "../../../../src/kernel/read-models/engine/queries.ts";
import { Statements } from "../sqlite/statements.ts";
import { decode, decodeRow, encode, quoted, tableOf } from "./columns.ts";
import { Contradiction } from "./database.ts";
import type { ReadAhead } from "./read-ahead.ts";

const countersWithin =
  "counters JOIN scopes ON counters.scope = scopes.number WHERE scopes.name = ? AND bucket BETWEEN ? AND ?";
/** Sorting this many rows is cheaper than an index that has only their order. */
const sortable = 2_000;
/** A page in memory is read within this time; a slower read waits for the disk. */
const patienceMs = 2;

/** Answers questions. SQLite picks indexes by the schema alone, without statistics; a test checks its choice. */
export class Queries {
  readonly #database: DatabaseSync;
  readonly #statements: Statements;
  readonly #readAhead: ReadAhead | undefined;
  readonly #monotonic: () => number;

  constructor(database: DatabaseSync, readAhead?: ReadAhead, monotonic = () => performance.now()) {
    this.#database = database;
    this.#statements = new Statements(database);
    this.#readAhead = readAhead;
    this.#monotonic = monotonic;
  }

  /** Null for an unknown key, or one not of its kind. */
  get(definition: CollectionDefinition, key: string): Document | null {
    const encoded = encode(kindOf(definition, definition.key), key);
    if (encoded === unmatched) return null;
    const [row] = this.#rows(documentOf(definition), [encoded]);
    return row ? decodeRow(definition, row) : null;
  }

  /** One page: its keys come from an index, then only its documents are read. */
  find(definition: CollectionDefinition, query: Query): Document[] {
    return this.#unchanged(() => this.#lookUp(definition, this.#placesOf(definition, query)));
  }

  keys(definition: CollectionDefinition, query: Query): string[] {
    const kind = kindOf(definition, definition.key);
    return this.#placesOf(definition, query).map((key) => decode(kind, key) as string);
  }

  /** Counts by looking at every selected document. */
  count(definition: CollectionDefinition, selection: Selection): number {
    const condition = conditionOf(definition, selection);
    if (!condition) return 0;
    return this.#number(`SELECT count(*) FROM ${tableOf(definition)} WHERE ${condition.sql}`, condition.values);
  }

  /** Steps from value to value, however many documents each has; groups within a range with two ends. */
  distinct(
    definition: CollectionDefinition,
    selection: Selection,
    field: string,
    { after, limit }: { readonly after?: FieldValue; readonly limit: number },
  ): FieldValue[] {
    const kind = kindOf(definition, field);
    const above = after === undefined ? null : encode(kind, after);
    const condition = conditionOf(definition, selection);
    if (!condition || above === unmatched) return [];
    const { range, ...unranged } = selection;
    const select = `SELECT ${quoted(field)} FROM ${tableOf(definition)} WHERE`;
    if (range?.from !== undefined && range.to !== undefined) {
      const sql = `${select} ${condition.sql} AND ${quoted(field)} ${above === null ? "IS NOT" : ">"} ?`;
      const rows = this.#rows(`${sql} GROUP BY 1 ORDER BY 1 LIMIT ?`, [...condition.values, above, limit]);
      return rows.map(([value]) => decode(kind, value ?? null));
    }
    const steps = conditionOf(definition, unranged) ?? condition;
    const next = (operator: string, bound: SQLInputValue): SQLOutputValue | undefined => {
      const sql = `${select} ${steps.sql} AND ${quoted(field)} ${operator} ? ORDER BY 1 LIMIT 1`;
      return this.#rows(sql, [...steps.values, bound])[0]?.[0];
    };
    const within = `${select} ${condition.sql} AND ${quoted(field)} = ? LIMIT 1`;
    const isSelected = (value: SQLOutputValue) => !range || this.#rows(within, [...condition.values, value]).length > 0;
    const found: FieldValue[] = [];
    let value = above === null ? next("IS NOT", null) : next(">", above);
    while (value !== undefined && found.length < limit) {
      if (isSelected(value)) found.push(decode(kind, value));
      value = next(">", value);
    }
    return found;
  }

  sum(scope: string, from = lowestBucket, to = highestBucket): number {
    return this.#number(`SELECT coalesce(sum(total), 0) FROM ${countersWithin}`, [scope, from, to]);
  }

  buckets(scope: string, from = lowestBucket, to = highestBucket): Bucket[] {
    const rows = this.#rows(`SELECT bucket, total FROM ${countersWithin} ORDER BY bucket`, [scope, from, to]);
    return rows.map(([bucket, total]) => ({ bucket: Number(bucket), total: Number(total) }));
  }

  #placesOf(definition: CollectionDefinition, query: Query): SQLOutputValue[] {
    const found: SQLOutputValue[] = [];
    for (const part of partsOf(definition, query)) {
      const left = query.limit - found.length;
      if (left > 0) found.push(...this.#placesOfPart(definition, part, left));
    }
    return found;
  }

  #placesOfPart(definition: CollectionDefinition, { query, beyond }: Part, limit: number): SQLOutputValue[] {
    const orderField = orderFieldOf(definition, query);
    const inOrder = this.#isWide(definition, query, orderField);
    const conditions = armsOf(query).flatMap((arm) => conditionOf(definition, arm, { inOrder, beyond }) ?? []);
    if (conditions.length === 0) return [];
    const { offset = 0, order: { descending } } = query;
    const values = [...conditions.flatMap((condition) => condition.values), limit, offset];
    return this.#rows(keysOf(definition, conditions, orderField, descending), values).map(([key]) => key!);
  }

  /** The documents with these keys, in order; read ahead while the disk is slow. */
  #lookUp(definition: CollectionDefinition, keys: readonly SQLOutputValue[]): Document[] {
    const sql = documentOf(definition);
    const select = this.#statements.rowsOf(sql);
    const documents: Document[] = [];
    const end = this.#monotonic() + patienceMs;
    let isAhead = false;
    for (const key of keys) {
      const row = select.get(key) as unknown as SQLOutputValue[] | undefined;
      if (!row) throw new Contradiction("an index names a document that is not there");
      documents.push(decodeRow(definition, row));
      if (isAhead || this.#monotonic() < end) continue;
      isAhead = true;
      this.#readAhead?.begin(sql, keys.slice(documents.length));
    }
    if (isAhead) this.#readAhead?.end();
    return documents;
  }

  #unchanged<Result>(questions: () => Result): Result {
    this.#statements.of("BEGIN").run();
    try {
      return questions();
    } finally {
      // Some errors end the transaction.
      if (this.#database.isTransaction) this.#statements.of("COMMIT").run();
    }
  }

  /** Whether a range of another field than the order's has too many documents to sort. */
  #isWide(definition: CollectionDefinition, query: Query, orderField: string): boolean {
    const { within: _, ...ranged } = query;
    const condition = query.range && query.range.field !== orderField && conditionOf(definition, ranged);
    if (!condition) return false;
    const some = `SELECT 1 FROM ${tableOf(definition)} WHERE ${condition.sql} LIMIT ${sortable}`;
    return this.#number(`SELECT count(*) FROM (${some})`, condition.values) === sortable;
  }

  #rows(sql: string, values: readonly SQLInputValue[]): SQLOutputValue[][] {
    return this.#statements.rowsOf(sql).all(...values) as unknown as SQLOutputValue[][];
  }

  #number(sql: string, values: readonly SQLInputValue[]): number {
    return Number(this.#rows(sql, values)[0]?.[0] ?? 0);
  }
}

/** The query for each value of `anyOf`: each is a range of one index. */
function armsOf(query: Query): Selection[] {
  const { anyOf, where = {}, ...rest } = query;
  if (!anyOf) return [query];
  const values = anyOf.values.filter((value) => !(anyOf.field in where) || where[anyOf.field] === value);
  return values.map((value) => ({ ...rest, where: { ...where, [anyOf.field]: value } }));
}

function documentOf(definition: CollectionDefinition): string {
  return `SELECT * FROM ${tableOf(definition)} WHERE ${quoted(definition.key)} = ?`;
}

/** The keys of one page. Several conditions are ranges of one index, merged in its order. */
function keysOf(
  definition: CollectionDefinition, conditions: readonly Condition[], orderField: string, descending: boolean,
): string {
  const columns = [...new Set([definition.key, orderField])].map(quoted).join(", ");
  const ranges = conditions.map(({ sql }) => `SELECT ${columns} FROM ${tableOf(definition)} WHERE ${sql}`);
  const order = [...new Set([orderField, definition.key])].map((field) => quoted(field) + (descending ? " DESC" : ""));
  return `${ranges.join(" UNION ALL ")} ORDER BY ${order.join(", ")} LIMIT ? OFFSET ?`;
}

interface Condition {
  readonly sql: string;
  readonly values: readonly SQLInputValue[];
}

/** Null for an unsatisfiable selection. `inOrder`: the index serves the order, not the range. */
function conditionOf(
  definition: CollectionDefinition,
  selection: Selection,
  { inOrder = false, beyond }: { readonly inOrder?: boolean; readonly beyond?: Beyond | undefined } = {},
): Condition | null {
  const { where = {}, anyOf, range, within } = selection;
  const parts: Condition[] = [];
  for (const [field, value] of Object.entries(where)) {
    const encoded = encode(kindOf(definition, field), value);
    if (encoded === unmatched) return null;
    parts.push({ sql: `${quoted(field)} IS ?`, values: [encoded] });
  }
  if (anyOf) parts.push(oneOf(definition, anyOf.field, anyOf.values));
  for (const [bounds, isServed] of [[range, !inOrder], [within, inOrder]] as const) {
    if (!bounds) continue;
    const bounded = rangeOf(definition, bounds, isServed);
    if (!bounded) return null;
    parts.push(...bounded);
  }
  if (beyond) {
    const encoded = encode(kindOf(definition, beyond.field), beyond.value);
    if (encoded === unmatched) return null;
    const column = quoted(beyond.field);
    parts.push(encoded === null
      ? { sql: `${column} IS NOT NULL`, values: [] }
      : { sql: `${column} ${beyond.operator} ?`, values: [encoded] });
  }
  return {
    sql: parts.map((part) => part.sql).join(" AND ") || "TRUE",
    values: parts.flatMap((part) => part.values),
  };
}

/** Null for an empty range. SQLite uses no index for a term `+column`. */
function rangeOf(
  definition: CollectionDefinition, { field, from, to }: FieldRange, isServed: boolean,
): Condition[] | null {
  const column = isServed ? quoted(field) : `+${quoted(field)}`;
  const parts: Condition[] = [];
  for (const [operator, value] of [[">=", from], ["<=", to]] as const) {
    if (value === undefined) continue;
    const encoded = encode(kindOf(definition, field), value);
    if (encoded === unmatched || encoded === null) return null;
    parts.push({ sql: `${column} ${operator} ?`, values: [encoded] });
  }
  return [...parts, { sql: `${column} IS NOT NULL`, values: [] }];
}

function oneOf(definition: CollectionDefinition, field: string, values: readonly FieldValue[]): Condition {
  const encoded = values.map((value) => encode(kindOf(definition, field), value));
  const known = encoded.filter((value) => value !== unmatched && value !== null);
  const sql = `${quoted(field)} IN (${known.map(() => "?").join(", ")})`;
  return { sql: encoded.includes(null) ? `(${sql} OR ${quoted(field)} IS NULL)` : sql, values: known };
}
