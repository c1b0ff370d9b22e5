import type { AnyEvent } from "../src/features/facts.ts";
import type { DataOf, Metadata } from "../src/kernel/domain/domain-event.ts";
import type { FactDeclaration } from "../src/kernel/domain/fact.ts";
import type { Change, CollectionDefinition, Document, Collection } from "../src/kernel/ports/read-models.ts";

/** The position, revision and metadata of a fact. */
export interface Recording {
  readonly position: string;
  readonly revision: number;
  readonly metadata: Metadata;
}

/** The changes of each type of fact. */
export type Handlers = {
  readonly [Type in AnyEvent["type"]]?: (
    data: DataOf<AnyEvent, Type>,
    recording: Recording,
  ) => readonly Change[];
};

/** A read model: its collections, and the pure function from facts to changes. */
export interface Projection {
  readonly name: string;
  /** Raise it when facts lead to other changes, so that stored read models are rebuilt. */
  readonly version: number;
  readonly collections: readonly CollectionDefinition[];
  readonly on: Handlers;
}

/** Creates or replaces a document. */
export function put<Shape extends Document>(collection: Collection<Shape>, document: Shape): Change {
  return { op: "put", collection: collection.name, key: document[collection.key] as string, document };
}

/** Creates a document that does not exist. */
export function create<Shape extends Document>(collection: Collection<Shape>, document: Shape): Change {
  return { op: "put", collection: collection.name, key: document[collection.key] as string, document, fresh: true };
}

/** Changes fields of a document, if it exists. */
export function set<Shape extends Document>(
  collection: Collection<Shape>,
  key: string,
  fields: Partial<Shape>,
): Change {
  return { op: "set", collection: collection.name, key, fields: fields as Document };
}

/** Handlers of facts that change settings of the document that `idName` names; `names` renames fields. */
export function settingHandlers<Shape extends Document>(
  facts: Readonly<Record<string, FactDeclaration>>, collection: Collection<Shape>, idName: string,
  names: Readonly<Record<string, keyof Shape & string>> = {},
): Handlers {
  const handlers = Object.entries(facts).filter(([, { changes }]) => changes).map(([type, { changes = [] }]) => {
    const handler = (data: Document) => {
      const settings = changes.map((name) => [names[name] ?? name, data[name]] as const);
      const fields = { ...Object.fromEntries(settings), updatedAt: data["at"] } as unknown as Partial<Shape>;
      return [set(collection, data[idName] as string, fields)];
    };
    return [type, handler] as const;
  });
  return Object.fromEntries(handlers);
}

/** Raises fields of a document to at least these values, if it exists. */
export function raise<Shape extends Document>(
  collection: Collection<Shape>,
  key: string,
  fields: Partial<Shape>,
): Change {
  return { op: "raise", collection: collection.name, key, fields: fields as Document };
}

/** Removes a document, if it exists. */
export function remove(collection: Pick<CollectionDefinition, "name">, key: string): Change {
  return { op: "remove", collection: collection.name, key };
}

/** Adds to the one counter of a scope. */
export function add(scope: string, by: number): Change {
  return { op: "add", scope, bucket: 0, by };
}
