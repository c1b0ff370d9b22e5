import { useMemo, useState } from "react";
import { useMay } from "../../app/session.ts";
import type { Item } from "./filters.ts";

/** The most events that an act takes by id. */
const most = 1_000;

/** The events that a person selected, by id; at most 1,000, as acts take them. */
export interface Selection {
  /** Whether the caller may act on many events. Nothing is selected otherwise. */
  readonly isPossible: boolean;
  readonly ids: readonly string[];
  readonly has: (id: string) => boolean;
  readonly toggle: (item: Item) => void;
  /** Adds events; places without one are passed over. */
  readonly extend: (items: readonly (Item | undefined)[]) => void;
  readonly clear: () => void;
}

/** A selection, empty at first. */
export function useSelection(): Selection {
  const may = useMay();
  const isPossible = may("orderReplay") || may("cancelEvents");
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set());
  return useMemo(() => ({
    isPossible,
    ids: [...ids],
    has: (id) => ids.has(id),
    toggle: ({ id }) => isPossible && setIds((before) => {
      const after = new Set(before);
      if (!after.delete(id) && after.size < most) after.add(id);
      return after;
    }),
    extend: (items) => isPossible && setIds((before) =>
      new Set([...before, ...items.flatMap((item) => item ? [item.id] : [])].slice(0, most))),
    clear: () => setIds(new Set()),
  }), [ids, isPossible]);
}
