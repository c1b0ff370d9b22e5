import { useEffect, useState } from "react";

/** A module, or the error of its loading; neither while it is being loaded. */
export interface Loaded<Module> {
  readonly module?: Module;
  readonly error?: unknown;
}

/** A part of the script cannot be loaded: the relay is away, or has a newer version, which has other parts. */
export class LoadError extends Error {
  override readonly name = "LoadError";

  constructor(cause: unknown) {
    super("A part of this page cannot be loaded. If the relay has a new version, reload the page.", { cause });
  }
}

/** Loads a part of the script. Rejects with a LoadError. */
export async function loaded<Module>(load: () => Promise<Module>): Promise<Module> {
  return load().catch((error: unknown) => {
    throw new LoadError(error);
  });
}

/**
 * Loads a part of the script after the first paint. Not by React's `lazy`, which shows its fallback for some 500 ms
 * even if the part is loaded. `load` is the same function at each call.
 */
export function useLoaded<Module>(load: () => Promise<Module>): Loaded<Module> {
  const [state, setState] = useState<Loaded<Module>>({});
  useEffect(() => {
    loaded(load).then((module) => setState({ module }), (error: unknown) => setState({ error }));
  }, [load]);
  return state;
}
