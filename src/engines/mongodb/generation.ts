import type { Binary } from "mongodb";
import type { Position } from "../../kernel/ports/event-store.ts";
import { ReadModelsUnavailable, type CollectionDefinition } from "../../kernel/ports/read-models.ts";
import { patience, type MongoConnection } from "./connection.ts";

/** One build of the read models; its collections are called `g<number>.…`. */
export interface Generation {
  readonly number: number;
  /** The definitions' fingerprint. Version 0.2 looks for another field, so it rebuilds everything. */
  readonly builtUnder: string;
  readonly checkpoint: Position;
  readonly batch: number;
}

/** The document that names the current read models and their writer. */
export interface State {
  readonly _id: "read-models";
  /** Of the last takeover: only this writer changes anything. */
  readonly writer: string;
  /** The writer's session; null before the first writer. */
  readonly session: Binary | null;
  readonly generations: number;
  readonly current: Generation | null;
  readonly building: Generation | null;
  /** Present if a writer of version 0.2 took over last. */
  readonly epoch?: number;
}

export const stateId = "read-models";
export const countersName = "counters";

/** The stored name of a generation's collection. */
export function storedIn(generation: number, collection: string): string {
  return `g${generation}.${collection}`;
}

/** Undefined for collections of no generation. */
export function generationOf(collection: string): number | undefined {
  const number = /^g(\d+)\./.exec(collection)?.[1];
  return number === undefined ? undefined : Number(number);
}

/** The collection of the {@link State}. */
export function states(connection: MongoConnection) {
  return connection.db.collection<State>("state");
}

interface Definitions {
  readonly _id: number;
  readonly definitions: string;
}

/** The definitions of each generation. */
export function definitionsOf(connection: MongoConnection) {
  return connection.db.collection<Definitions>("generations");
}

/** A generation's definitions by name. */
export async function loadDefinitions(
  connection: MongoConnection,
  generation: number,
): Promise<ReadonlyMap<string, CollectionDefinition>> {
  const found = await connection.reach(ReadModelsUnavailable, patience.questionMs, (signal) =>
    definitionsOf(connection).findOne({ _id: generation }, { signal }));
  const definitions = JSON.parse(found?.definitions ?? "[]") as CollectionDefinition[];
  return new Map(definitions.map((definition) => [definition.name, definition]));
}
