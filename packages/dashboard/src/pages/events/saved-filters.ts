import { columnsName, eventFilterNames, payloadNames, type Search } from "../../app/search.ts";

/** Filters under a name that a person gave them, with the columns of the list. */
export interface SavedFilters {
  readonly name: string;
  readonly search: Search;
}

/** The most that are kept for a tenant, and the longest name. */
export const mostSaved = 50;
export const longestName = 60;

const parts: readonly string[] = [...eventFilterNames, ...payloadNames, columnsName];

/** The part of an address that can be saved; undefined where it has no filter and no column. */
export function savable(search: Search): Search | undefined {
  const chosen = Object.entries(search).filter(([part, text]) => parts.includes(part) && text !== "");
  return chosen.length > 0 ? Object.fromEntries(chosen) : undefined;
}

/** The valid filters among the values that a browser kept: another release may have written them. */
export function savedIn(kept: unknown): readonly SavedFilters[] {
  if (!Array.isArray(kept)) return [];
  return kept.flatMap((one: unknown) => {
    const { name, search } = (one ?? {}) as { readonly name?: unknown; readonly search?: unknown };
    if (typeof name !== "string") return [];
    const texts = Object.entries(search ?? {}).filter(([, text]) => typeof text === "string");
    const found = savable(Object.fromEntries(texts));
    return found ? [{ name, search: found }] : [];
  });
}

/** The saved filters with one more, by name; it takes the place of one with the same name. */
export function withSaved(saved: readonly SavedFilters[], added: SavedFilters): readonly SavedFilters[] {
  return [...saved.filter(({ name }) => name !== added.name), added]
    .sort((one, other) => one.name.localeCompare(other.name));
}
