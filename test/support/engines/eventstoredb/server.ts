/** A server for tests. */
export interface EventStoreDbUnderTest {
  readonly url: string;
  readonly description: string;
  /** Whether it was started here: one that is somebody's refuses everything but `stop`. */
  readonly breakable: boolean;
  /** Lets go of it, and ends it if it was started here. */
  readonly stop: () => Promise<void>;
  /** Ends it the hard way; what it acknowledged is there after `restart`. */
  readonly kill: () => Promise<void>;
  /** Starts it again at the same address and on the same data. */
  readonly restart: () => Promise<void>;
  /** Lets it keep its connections and do nothing. */
  readonly freeze: () => Promise<void>;
  readonly thaw: () => Promise<void>;
}
