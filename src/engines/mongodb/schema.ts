import type { CollectionDefinition } from "../../kernel/ports/read-models.ts";
import type { MongoConnection } from "./connection.ts";
import { countersName, storedIn } from "./generation.ts";
import { indexKeys } from "./index-choice.ts";

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
