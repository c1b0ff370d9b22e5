import type { Engine } from "../engine.ts";

/** A server that speaks MongoDB's wire protocol. */
export interface MongoDbUnderTest extends Engine {
  /** Without a database. */
  readonly url: string;
}
