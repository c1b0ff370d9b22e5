import type { Engine } from "../engine.ts";

/** A server for tests. */
export interface EventStoreDbUnderTest extends Engine {
  readonly url: string;
  /** Whether it was started here: a server that the environment names refuses everything but `stop`. */
  readonly breakable: boolean;
}
