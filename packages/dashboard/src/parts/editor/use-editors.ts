import { useLoaded, type Loaded } from "../use-loaded.ts";

const load = () => import("./chunk.ts");

/** Loads the editors, which are most of the weight of the pages that show them, in a script of their own. */
export function useEditors(): Loaded<Awaited<ReturnType<typeof load>>> {
  return useLoaded(load);
}
