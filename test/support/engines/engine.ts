/** An engine outside of the relay's processes, and what tests may do to it. */
export interface Engine {
  /** What it is, in which version, and where it came from. */
  readonly description: string;
  /** Lets go of it, and ends it if it was started here for its caller alone. */
  readonly stop: () => Promise<void>;
  /** Ends it with no chance to tidy up. What it acknowledged is there after `restart`. */
  readonly kill: () => Promise<void>;
  /** Starts it again at the same address and on the same data; resolves when it answers. */
  readonly restart: () => Promise<void>;
  /** It keeps its connections and does nothing. */
  readonly freeze: () => Promise<void>;
  readonly thaw: () => Promise<void>;
}

/** What may be done to an engine that the environment names: nothing, for it is somebody's. */
export function namedBy(variable: string): Engine & { readonly breakable: false } {
  const refuse = () => Promise.reject(new Error(`what ${variable} names is not ours: it is neither killed nor frozen`));
  return {
    description: `what ${variable} names`, breakable: false,
    stop: async () => undefined, kill: refuse, restart: refuse, freeze: refuse, thaw: refuse,
  };
}
