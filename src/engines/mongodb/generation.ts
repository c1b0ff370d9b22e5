import type { Binary } from "mongodb";
import type { Position } from "../../kernel/ports/event-store.ts";
import { ReadModelsUnavailable, type CollectionDefinition } from "../../kernel/ports/read-models.ts";
import { patience, type MongoConnection } from "./connection.ts";

/** One build of the read models: its collections are called `g<number>.…`. */
export interface Generation {
  readonly number: number;
  /** The fingerprint of the definitions. Version 0.2 looks for it under another name, so it builds everything again. */
  readonly builtUnder: string;
  readonly checkpoint: Position;
  /** How many batches were written. */
  readonly batch: number;
}

/** The one document that names the current read models and their writer. */
export interface State {
  readonly _id: "read-models";
  /** The name of the last takeover: only its writer changes anything. */
  readonly writer: string;
  /** The session of that writer's transactions; null before the first writer. */
  readonly session: Binary | null;
  /** The highest number given to a generation. */
  readonly generations: number;
  /** The generation that answers queries. */
  readonly current: Generation | null;
  /** The generation being built to replace the current one. */
  readonly building: Generation | null;
  /** Present where a writer of version 0.2 has taken over last. */
  readonly epoch?: number;
}

/** The `_id` of the {@link State}. */
export const stateId = "read-models";
/** The name of the collection of a generation's counters, see {@link storedIn}. */
export const countersName = "counters";

/** The collection of a generation that holds the documents of one of its collections. */
export function storedIn(generation: number, collection: string): string {
  return `g${generation}.${collection}`;
}

/** The generation that a collection belongs to; undefined for those of none. */
export function generationOf(collection: string): number | undefined {
  const number = /^g(\d+)\./.exec(collection)?.[1];
  return number === undefined ? undefined : Number(number);
}

/** The collection whose one document is the {@link State}. */
export function states(connection: MongoConnection) {
  return connection.db.collection<State>("state");
}

interface Definitions {
  readonly _id: number;
  readonly definitions: string;
}

/** The collection with the definitions of each generation. */
export function definitionsOf(connection: MongoConnection) {
  return connection.db.collection<Definitions>("generations");
}

/** The definitions of a generation's collections, by name. */
export async function loadDefinitions(
  connection: MongoConnection,
  generation: number,
): Promise<ReadonlyMap<string, CollectionDefinition>> {
  const found = await connection.reach(ReadModelsUnavailable, patience.questionMs, (signal) =>
    definitionsOf(connection).findOne({ _id: generation }, { signal }));
  const definitions = JSON.parse(found?.definitions ?? "[]") as CollectionDefinition[];
  return new Map(definitions.map((definition) => [definition.name, definition]));
}
