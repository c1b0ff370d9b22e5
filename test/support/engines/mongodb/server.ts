/** A server that speaks MongoDB's wire protocol. */
export interface MongoDbUnderTest {
  /** Without a database. */
  readonly url: string;
  /** What it is, and in which version. */
  readonly description: string;
  stop(): Promise<void>;
  /** Ends it with no chance to tidy up. What it acknowledged must be there after {@link restart}. */
  kill(): Promise<void>;
  /** Starts it again, on the same port and data. */
  restart(): Promise<void>;
  /** It goes on existing and does nothing. */
  freeze(): Promise<void>;
  thaw(): Promise<void>;
}
