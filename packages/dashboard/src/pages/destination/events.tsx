import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { Schemas } from "@webhook-relay/client";
import type { ReactNode } from "react";
import { relay } from "../../api/relay.ts";
import { Answered, Empty } from "../../parts/states.tsx";
import { EventStatus } from "../../parts/status.tsx";
import { Table } from "../../parts/table.tsx";
import { Ago } from "../../parts/time.tsx";
import { durationText } from "../../parts/times.ts";
import shared from "../../style/shared.module.css";
import styles from "./destination.module.css";

/** The newest events of a destination, and the way to all of them. */
export function Events({ id }: { readonly id: string }): ReactNode {
  const filter = {
    DestinationUrlId: id, View: "summary", Qt: 10, CpOrd: "acceptedAt", TpOrd: "Desc", Total: false,
  } as const;
  const query = useQuery({
    queryKey: ["listEvents", filter], queryFn: () => relay.listEvents(filter), refetchInterval: 10_000,
  });
  return (
    <section aria-label="Events" className={styles.destinationSection}>
      <p><Link to="/events" search={{ DestinationUrlId: id }} className={shared.button}>All its events</Link></p>
      <Answered query={query}>
        {({ items }) => items.length === 0 ? (
          <Empty>No event was posted to this destination yet. A test event would show here, too.</Empty>
        ) : (
          <Table
            stacked caption={<h2>The newest {items.length}</h2>} rows={items} keyOf={({ id: eventId }) => eventId}
            columns={[
              {
                head: "Status",
                cell: ({ status, test }) => <><EventStatus value={status} />{test && <small> test</small>}</>,
              },
              { head: "Accepted", cell: ({ acceptedAt }) => <Ago to={acceptedAt} /> },
              { head: "Last attempt", cell: lastAttemptText },
              {
                head: "Event", kind: "cut", cell: (event) => (
                  <Link to="/events/$id" params={{ id: event.id }}><code>{event.id}</code></Link>
                ),
              },
            ]}
          />
        )}
      </Answered>
    </section>
  );
}

function lastAttemptText(event: Schemas["ListedEvent"]): string {
  const last = "lastAttempt" in event ? event.lastAttempt : null;
  if (last === null) return "none yet";
  const outcome = `${last.statusCode ?? last.reason ?? last.outcome}`;
  return last.durationMs === null ? outcome : `${outcome} in ${durationText(last.durationMs)}`;
}
