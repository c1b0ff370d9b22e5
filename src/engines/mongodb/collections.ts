import type { CollectionDefinition, Query } from "../../kernel/ports/read-models.ts";
import { columnsOf, orderFieldOf } from "../../kernel/read-models/engine/queries.ts";
import type { MongoConnection } from "./connection.ts";
import { storedName } from "./fields.ts";
import { countersName, storedIn } from "./generation.ts";

/** Makes the collections of a generation, with their indexes. */
export async function createCollections(
  { db }: MongoConnection,
  generation: number,
  definitions: readonly CollectionDefinition[],
): Promise<void> {
  const made = definitions.map(async (definition) => {
    const collection = await db.createCollection(storedIn(generation, definition.name));
    const keys = definition.indexes.map((index) => ({ key: indexKeys(definition, index) }));
    if (keys.length > 0) await collection.createIndexes(keys);
  });
  const counters = async () => {
    const collection = await db.createCollection(storedIn(generation, countersName));
    // For counters at zero, which are deleted now and then.
    await collection.createIndex({ n: 1 }, { partialFilterExpression: { n: 0 } }, {});
  };
  await Promise.all([...made, counters()]);
}

/** The keys of an index of MongoDB's. */
function indexKeys(definition: CollectionDefinition, index: readonly string[]): Record<string, 1> {
  return Object.fromEntries(columnsOf(definition, index).map((field) => [storedName(definition, field), 1 as const]));
}

/**
 * The keys of the index in which the documents of a query are adjacent and in the query's order, ties included; of
 * several, the last with the most fixed fields, as SQLite does. Undefined where there is none: MongoDB then takes the
 * index of the keys where nothing but keys is asked for, and else chooses by trial, which depends on the documents.
 */
export function indexFor(
  definition: CollectionDefinition,
  { where = {}, anyOf, range, order }: Query,
): Readonly<Record<string, 1>> | undefined {
  const isFixed = (field: string) => field in where || field === anyOf?.field;
  const field = orderFieldOf(definition, { where, order });
  if (range && range.field !== field && !(range.field in where)) return undefined;
  let best: { readonly index: readonly string[]; readonly fixed: number } | undefined;
  for (const index of definition.indexes) {
    const columns = columnsOf(definition, index);
    const fixed = columns.findIndex((column) => !isFixed(column));
    const isInOrder = columns[fixed] === field && (field === definition.key || columns[fixed + 1] === definition.key);
    if (isInOrder && fixed >= (best?.fixed ?? 0)) best = { index, fixed };
  }
  return best && indexKeys(definition, best.index);
}
