import { useQuery } from "@tanstack/react-query";
import { Link, useSearch } from "@tanstack/react-router";
import type { Schemas } from "@webhook-relay/client";
import type { ReactNode } from "react";
import { relay } from "../../api/relay.ts";
import { useChange } from "../../app/navigation.tsx";
import { useMay } from "../../app/session.ts";
import { Copy } from "../../parts/copy.tsx";
import { Listed, usePages } from "../../parts/listed.tsx";
import { useTargets } from "../../parts/names.tsx";
import { Page } from "../../parts/page.tsx";
import { Answered, Empty } from "../../parts/states.tsx";
import { EventStatus } from "../../parts/status.tsx";
import { Moment } from "../../parts/time.tsx";
import { classes } from "../../style/classes.ts";
import shared from "../../style/shared.module.css";
import { Attention } from "./attention.tsx";
import styles from "./overview.module.css";
import { Traffic } from "./traffic.tsx";

/** How often the numbers are read again, ms. */
const everyMs = 10_000;

/** The state of the tenant: work for a person first, then totals and the traffic of 24 hours. */
export function OverviewPage(): ReactNode {
  const allows = useMay();
  const { refused } = useSearch({ from: "/signed-in/" });
  const totals = useQuery({
    queryKey: ["countEvents", {}],
    queryFn: () => relay.countEvents(),
    refetchInterval: everyMs,
  });
  return (
    <Page title="Overview">
      <Attention everyMs={everyMs} />
      {refused !== undefined && <Refusals />}
      <Answered query={totals}>
        {(counted) => counted.total === 0 ? <FirstSteps /> : (
          <>
            <Totals totals={counted} />
            {allows("getStatistics") && <Traffic everyMs={everyMs * 6} />}
          </>
        )}
      </Answered>
    </Page>
  );
}

function FirstSteps(): ReactNode {
  return (
    <Empty act={<Link to="/start" className={shared.button}>Begin with the first steps</Link>}>
      No event yet. Totals and traffic of your webhooks will be here. Five steps lead to the first delivery: a
      destination, a key, an event, its delivery, and the check of its signature.
    </Empty>
  );
}

/** Events are never listed in Failed: they pass through it. */
const statuses = ["Pending", "Processing", "WaitingRetry", "Succeeded", "CriticalFailure", "Cancelled"] as const;

/** How many events are in each status; each number leads to its list. */
function Totals({ totals }: { readonly totals: Schemas["EventTotals"] }): ReactNode {
  return (
    <section aria-label="Totals" className={styles.totals}>
      <h2>{totals.total.toLocaleString("en")} {totals.total === 1 ? "event" : "events"}</h2>
      <ul>
        {statuses.map((status) => (
          <li key={status}>
            <Link to="/events" search={{ Status: status }}>
              <span className={styles.total}>{totals.statuses[status].toLocaleString("en")}</span>
              <EventStatus value={status} />
            </Link>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** The refused ingest requests, newest first, in groups of a minute. */
function Refusals(): ReactNode {
  const change = useChange();
  const { nameOf } = useTargets();
  const pages = usePages({ queryKey: ["listRefusals", "all"], size: 50, ask: (page) => relay.listRefusals(page) });
  return (
    <section aria-label="Refused posts" className={classes(shared.panel, styles.refusals)}>
      <header className={shared.pageHead}>
        <h2>Refused posts</h2>
        <button type="button" onClick={() => change({ refused: "" })}>Close</button>
      </header>
      <Listed
        pages={pages}
        empty={<Empty>
          No refused post in the last 30 days. Posts that the relay answers with 4xx are listed here.
        </Empty>}
      >
        {(groups) => (
          <ul>
            {groups.map((group) => (
              <li key={`${group.firstAt} ${group.requestId} ${group.reason}`}>
                <Moment at={group.lastAt} />
                <strong>{group.status}{group.count > 1 && ` × ${group.count}`}</strong>
                <span>{group.reason}</span>
                <small>
                  {group.destinationUrlId !== null && <>for {nameOf(group.destinationUrlId)} · </>}
                  {group.senderId !== null && <>through {nameOf(group.senderId)} · </>}
                  request <code>{group.requestId}</code>
                  <Copy text={group.requestId} label="Copy the id of the request" />
                </small>
              </li>
            ))}
          </ul>
        )}
      </Listed>
    </section>
  );
}
