import { useState, type ReactNode } from "react";
import { useLoaded } from "../../parts/use-loaded.ts";
import type { Item } from "./filters.ts";
import type { RowAct } from "./row-acts.tsx";

const loadPanel = () => import("./event-panel.tsx");

/** Asks before an act on an event of the list, and does it. The dialog has to be rendered. */
export function useAct(): { readonly act: (act: RowAct, item: Item) => void; readonly dialog: ReactNode } {
  const [asked, setAsked] = useState<{ readonly act: RowAct; readonly id: string }>();
  const { module } = useLoaded(loadPanel);
  return {
    act: (act, { id }) => setAsked({ act, id }),
    dialog: asked && module && <module.ActQuestion {...asked} close={() => setAsked(undefined)} />,
  };
}
