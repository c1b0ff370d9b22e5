import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { relay } from "../../api/relay.ts";
import listedStyles from "../../parts/listed.module.css";
import { Answered, Empty } from "../../parts/states.tsx";
import { Status } from "../../parts/status.tsx";
import { durationText, Moment } from "../../parts/time.tsx";
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
          <table className={listedStyles.rows}>
            <caption><h2>The newest {items.length}</h2></caption>
            <thead><tr><th>Status</th><th>Accepted</th><th>Last attempt</th><th>Event</th></tr></thead>
            <tbody>
              {items.map((event) => {
                const last = "lastAttempt" in event ? event.lastAttempt : null;
                return (
                  <tr key={event.id}>
                    <td><Status value={event.status} />{event.test && <small> test</small>}</td>
                    <td><Moment at={event.acceptedAt} /></td>
                    <td>
                      {last === null ? "none yet" : `${last.statusCode ?? last.reason ?? last.outcome}`}
                      {last?.durationMs != null && ` in ${durationText(last.durationMs)}`}
                    </td>
                    <td><Link to="/events/$id" params={{ id: event.id }}><code>{event.id}</code></Link></td>
                  </tr>
                );
              })}
            </tbody>
          </table>
        )}
      </Answered>
    </section>
  );
}
