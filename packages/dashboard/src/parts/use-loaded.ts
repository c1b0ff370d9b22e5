import { useEffect, useState } from "react";

/** A module once it is there, or why it cannot be loaded; neither while it is being loaded. */
export interface Loaded<Module> {
  readonly module?: Module;
  readonly error?: unknown;
}

/**
 * Loads a part of the script behind what is shown first. Not by React's `lazy`: that shows what takes the part's place
 * for some 500 ms, even where the part is there. `load` is the same function at each call.
 */
export function useLoaded<Module>(load: () => Promise<Module>): Loaded<Module> {
  const [state, setState] = useState<Loaded<Module>>({});
  useEffect(() => {
    load().then((module) => setState({ module }), (error: unknown) => setState({ error }));
  }, [load]);
  return state;
}
