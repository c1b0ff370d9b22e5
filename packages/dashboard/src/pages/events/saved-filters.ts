import { columnsName, eventFilterNames, payloadNames, type Search } from "../../app/search.ts";

/** The name of this page in views. */
export const viewedPage = "events";

const parts: readonly string[] = [...eventFilterNames, ...payloadNames, columnsName];

/** The part of an address that can be saved; undefined where it has no filter and no column. */
export function savable(search: Search): Search | undefined {
  const chosen = Object.entries(search).filter(([part, text]) => parts.includes(part) && text !== "");
  return chosen.length > 0 ? Object.fromEntries(chosen) : undefined;
}
