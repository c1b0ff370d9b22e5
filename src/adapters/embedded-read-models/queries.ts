import type { DatabaseSync, SQLInputValue, SQLOutputValue } from "node:sqlite";
import type { Bucket, CollectionDefinition, Document, FieldValue, Query, Selection } from "../../ports/read-models.ts";
import { orderFieldOf } from "../read-models/indexes.ts";
import { decode, decodeRow, encode, quoted, tableOf, unmatched } from "./columns.ts";
import { conditionOf, type Condition } from "./conditions.ts";
import { Statements } from "./statements.ts";

/** Buckets are whole numbers that a number holds exactly. */
const [lowest, highest] = [Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER];
const countersWithin =
  "counters JOIN scopes ON counters.scope = scopes.number WHERE scopes.name = ? AND bucket BETWEEN ? AND ?";
/** So many rows are cheaper to sort than to look for in an index that has only their order. */
const sortable = 2_000;

/**
 * Answers questions from the tables. SQLite picks the index of each; as it is never told what is in the tables, what it
 * picks follows from the schema alone, and a test holds it to that.
 */
export class Queries {
  readonly #statements: Statements;

  constructor(database: DatabaseSync) {
    this.#statements = new Statements(database);
  }

  /** The document with this key, or null, also where the key is no value of its kind. */
  get(definition: CollectionDefinition, key: string): Document | null {
    const encoded = encode(definition.fields[definition.key] ?? "text", key);
    if (encoded === unmatched) return null;
    const [row] = this.#rows(`SELECT * FROM ${tableOf(definition)} WHERE ${quoted(definition.key)} = ?`, [encoded]);
    return row ? decodeRow(definition, row) : null;
  }

  /** One page. */
  find(definition: CollectionDefinition, query: Query): Document[] {
    const orderField = orderFieldOf(definition, query);
    const inOrder = this.#isWide(definition, query, orderField);
    const conditions = armsOf(query).flatMap((arm) => conditionOf(definition, arm, { inOrder }) ?? []);
    if (conditions.length === 0) return [];
    const order = [...new Set([orderField, definition.key])];
    const { limit, offset = 0 } = query;
    const sql = conditions.length === 1 && offset === 0
      ? firstPageOf(definition, conditions[0]!, order, query.order.descending)
      : pageOf(definition, conditions, order, query.order.descending);
    const values = [...conditions.flatMap((condition) => condition.values), limit, offset];
    return this.#rows(sql, values).map((row) => decodeRow(definition, row));
  }

  /** Counts by looking at every selected document. */
  count(definition: CollectionDefinition, selection: Selection): number {
    const condition = conditionOf(definition, selection);
    if (!condition) return 0;
    return this.#number(`SELECT count(*) FROM ${tableOf(definition)} WHERE ${condition.sql}`, condition.values);
  }

  /** In steps from one value to the next, so that it costs the same however many documents share one. */
  distinct(
    definition: CollectionDefinition,
    selection: Selection,
    field: string,
    { after, limit }: { readonly after?: FieldValue; readonly limit: number },
  ): FieldValue[] {
    const kind = definition.fields[field] ?? "json";
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

  /** The counters of a scope with `from` <= bucket <= `to`, together. */
  sum(scope: string, from = lowest, to = highest): number {
    return this.#number(`SELECT coalesce(sum(total), 0) FROM ${countersWithin}`, [scope, from, to]);
  }

  /** The same one by one, in the order of their buckets. */
  buckets(scope: string, from = lowest, to = highest): Bucket[] {
    const rows = this.#rows(`SELECT bucket, total FROM ${countersWithin} ORDER BY bucket`, [scope, from, to]);
    return rows.map(([bucket, total]) => ({ bucket: Number(bucket), total: Number(total) }));
  }

  /** Whether a range, of another field than the order's, has too many documents to sort them all for a page. */
  #isWide(definition: CollectionDefinition, query: Query, orderField: string): boolean {
    const condition = query.range && query.range.field !== orderField && conditionOf(definition, query);
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

/** The query once for each value of its `anyOf`: so many ranges of one index. */
function armsOf(query: Query): Selection[] {
  const { anyOf, where = {}, ...rest } = query;
  if (!anyOf) return [query];
  const values = anyOf.values.filter((value) => !(anyOf.field in where) || where[anyOf.field] === value);
  return values.map((value) => ({ ...rest, where: { ...where, [anyOf.field]: value } }));
}

/** The first page of documents, in the order of these fields. */
function firstPageOf(
  definition: CollectionDefinition, condition: Condition, order: readonly string[], descending: boolean,
): string {
  const by = inOrderOf(order.map(quoted), descending);
  return `SELECT * FROM ${tableOf(definition)} WHERE ${condition.sql} ORDER BY ${by} LIMIT ? OFFSET ?`;
}

/**
 * Any page of documents. Several conditions are as many ranges of one index, merged in its order. Only the documents of
 * the page are looked up: with one SELECT SQLite would look up those that the page skips, too, in tables like these.
 */
function pageOf(
  definition: CollectionDefinition, conditions: readonly Condition[], order: readonly string[], descending: boolean,
): string {
  const from = tableOf(definition);
  const columns = order.map((field, at) => `${quoted(field)} AS o${at}`).join(", ");
  const ranges = conditions.map(({ sql }) => `SELECT ${columns} FROM ${from} WHERE ${sql}`);
  const aliases = order.map((_, at) => `o${at}`);
  const by = inOrderOf(aliases, descending);
  const same = `documents.${quoted(definition.key)} = o${order.indexOf(definition.key)}`;
  return (
    `SELECT documents.* FROM (${ranges.join(" UNION ALL ")} ORDER BY ${by} LIMIT ? OFFSET ?) AS page ` +
    `CROSS JOIN ${from} AS documents ON ${same} ORDER BY ${by}`
  );
}

function inOrderOf(columns: readonly string[], descending: boolean): string {
  return columns.map((column) => column + (descending ? " DESC" : "")).join(", ");
}
