import { useLocation } from "@tanstack/react-router";
import { useRef, useState } from "react";

/** The place of a list. The list keeps it up to date. */
export interface Place {
  /** The number of the list's load. */
  readonly load: number;
  /** The acceptance of the newest event when the list was loaded. */
  newest?: string | undefined;
  /** How far it is scrolled, px. */
  offset: number;
  /** The active row. */
  active: number;
}

let loads = 0;
/** The places at the entries of the browser's history, the newest last. */
const places = new Map<string, Place>();
const mostPlaces = 50;

function top(): Place {
  return { load: (loads += 1), offset: 0, active: 0 };
}

/**
 * The place of the list at this entry of the history, so that Back finds it as it was; at its top for a new list.
 * `renew` begins again at the top.
 */
export function usePlace(list: string): { readonly place: Place; readonly renew: () => void } {
  const entry = useLocation({ select: ({ state }) => state.__TSR_key ?? "" });
  const [, redraw] = useState(0);
  const shown = useRef<{ readonly list: string; readonly place: Place }>(undefined);
  const key = `${entry} ${list}`;
  if (shown.current?.list !== list) shown.current = { list, place: places.get(key) ?? top() };
  const { place } = shown.current;
  // The panel's entries have the place of their list.
  places.delete(key);
  places.set(key, place);
  const [oldest] = places.keys();
  if (places.size > mostPlaces && oldest !== undefined) places.delete(oldest);
  const renew = () => {
    shown.current = { list, place: top() };
    redraw((count) => count + 1);
  };
  return { place, renew };
}
