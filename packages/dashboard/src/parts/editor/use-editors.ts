import { useEffect, useState } from "react";

type Editors = Awaited<ReturnType<typeof load>>;

/** Loads the editors, which are most of the weight of the pages that show them, in a script of their own. */
export function useEditors(): { readonly editors?: Editors; readonly error?: unknown } {
  const [state, setState] = useState<{ readonly editors?: Editors; readonly error?: unknown }>({});
  useEffect(() => {
    load().then((editors) => setState({ editors }), (error: unknown) => setState({ error }));
  }, []);
  return state;
}

async function load() {
  return import("./chunk.ts");
}
