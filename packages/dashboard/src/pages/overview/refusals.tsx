import type { ReactNode } from "react";
import { relay } from "../../api/relay.ts";
import { useChange } from "../../app/navigation.tsx";
import { Copy } from "../../parts/copy.tsx";
import { Listed, usePages } from "../../parts/listed.tsx";
import { useTargets } from "../../parts/names.tsx";
import { Empty } from "../../parts/states.tsx";
import { Moment } from "../../parts/time.tsx";
import { classes } from "../../style/classes.ts";
import shared from "../../style/shared.module.css";
import styles from "./overview.module.css";

/** The refused ingest requests, newest first, in groups of a minute. */
export function Refusals(): ReactNode {
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
