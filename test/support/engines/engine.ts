/** An engine outside of the relay's processes, which tests may stop, kill, restart and freeze. */
export interface Engine {
  /** Its name, its version and its origin. */
  readonly description: string;
  /** Releases the engine, and ends it if it was started here for its caller alone. */
  readonly stop: () => Promise<void>;
  /** Ends it with no chance to tidy up. Acknowledged writes are there after `restart`. */
  readonly kill: () => Promise<void>;
  /** Starts it again at the same address and on the same data; resolves when it answers. */
  readonly restart: () => Promise<void>;
  /** It keeps its connections and does nothing. */
  readonly freeze: () => Promise<void>;
  readonly thaw: () => Promise<void>;
}

/** An engine that the environment names: it belongs to somebody, so it is neither killed nor frozen. */
export function namedBy(variable: string): Engine & { readonly breakable: false } {
  const refuse = () => Promise.reject(new Error(`what ${variable} names is not ours: it is neither killed nor frozen`));
  return {
    description: `what ${variable} names`, breakable: false,
    stop: async () => undefined, kill: refuse, restart: refuse, freeze: refuse, thaw: refuse,
  };
}
