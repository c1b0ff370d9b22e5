import { useQuery } from "@tanstack/react-query";
import { useMemo, type ReactNode } from "react";
import { relay } from "../../api/relay.ts";
import { classes } from "../../style/classes.ts";
import shared from "../../style/shared.module.css";
import { valueAt } from "./columns.ts";
import styles from "./events.module.css";

/** How long payloads of rows that are not shown are kept, ms. */
const keptMs = 30_000;

/** The values of an event's payload in the columns of the list. A payload never changes: it is read once. */
export function PayloadCells({ id, columns }: { readonly id: string; readonly columns: readonly string[] }): ReactNode {
  const { data: payload } = useQuery({
    queryKey: ["getEvent", { id }, "payload"],
    queryFn: async ({ signal }) => (await relay.getEvent({ id }, { signal })).payload,
    staleTime: Infinity,
    gcTime: keptMs,
  });
  const values = useMemo(
    () => columns.map((column) => payload === undefined ? "" : valueAt(payload, column) ?? "–"), [columns, payload]);
  return (
    <span className={styles.cPayload}>
      {columns.map((column, at) => (
        <span key={column} className={classes(styles.column, styles.clipped)} title={values[at]}>
          <span className={shared.hiddenText}>{column} </span>{values[at]}
        </span>
      ))}
    </span>
  );
}
