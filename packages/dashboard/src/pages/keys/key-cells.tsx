import type { ReactNode } from "react";
import type { Column } from "../../parts/table.tsx";
import { Moment, useNow } from "../../parts/time.tsx";
import shared from "../../style/shared.module.css";

/** The columns of a key's name and of its last characters. */
export const keyColumns: readonly Column<{
  readonly name: string; readonly prefix: string; readonly last4: string;
}>[] = [
  { head: "Name", kind: "main", cell: ({ name }) => name },
  { head: "Key", cell: ({ prefix, last4 }) => <code>{prefix}…{last4}</code> },
];

/** The expiry of a key, with a mark once it is past. */
export function Expiry({ at }: { readonly at: string | null }): ReactNode {
  const now = useNow();
  if (at === null) return "never";
  return <>{Date.parse(at) <= now && <span className={shared.off}>— expired </span>}<Moment at={at} /></>;
}
