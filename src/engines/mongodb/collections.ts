import type { CollectionDefinition, Query } from "../../kernel/ports/read-models.ts";
import { columnsOf, orderFieldOf } from "../../kernel/read-models/engine/queries.ts";
import type { MongoConnection } from "./connection.ts";
import { storedName } from "./fields.ts";
import { countersName, storedIn } from "./generation.ts";

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
    // Counters at zero are deleted regularly.
    await collection.createIndex({ n: 1 }, { partialFilterExpression: { n: 0 } }, {});
  };
  await Promise.all([...made, counters()]);
}

function indexKeys(definition: CollectionDefinition, index: readonly string[]): Record<string, 1> {
  return Object.fromEntries(columnsOf(definition, index).map((field) => [storedName(definition, field), 1 as const]));
}

/** The index that has a query's documents in order; of several, the last with the most fixed fields, as in SQLite. */
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
