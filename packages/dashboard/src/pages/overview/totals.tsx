import { Link } from "@tanstack/react-router";
import type { Schemas } from "@webhook-relay/client";
import type { ReactNode } from "react";
import { Status } from "../../parts/status.tsx";
import styles from "./overview.module.css";

/** Events are never listed in Failed: they pass through it. */
const statuses = ["Pending", "Processing", "WaitingRetry", "Succeeded", "CriticalFailure", "Cancelled"] as const;

/** How many events are in each status; each number leads to its list. */
export function Totals({ totals }: { readonly totals: Schemas["EventTotals"] }): ReactNode {
  return (
    <section aria-label="Totals" className={styles.totals}>
      <h2>{totals.total.toLocaleString("en")} {totals.total === 1 ? "event" : "events"}</h2>
      <ul>
        {statuses.map((status) => (
          <li key={status}>
            <Link to="/events" search={{ Status: status }}>
              <span className={styles.total}>{totals.statuses[status].toLocaleString("en")}</span>
              <Status value={status} />
            </Link>
          </li>
        ))}
      </ul>
    </section>
  );
}
