import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { relay } from "../../api/relay.ts";
import { PageLink } from "../../app/navigation.tsx";
import { Page } from "../../parts/page.tsx";
import { Answered, Empty } from "../../parts/states.tsx";
import { Status } from "../../parts/status.tsx";
import { Moment } from "../../parts/time.tsx";

/** The events of the tenant. */
export function EventsPage(): ReactNode {
  const query = useQuery({
    queryKey: ["events"],
    queryFn: () => relay.listEvents({ View: "summary", Total: false, Qt: 50, CpOrd: "acceptedAt", TpOrd: "Desc" }),
  });
  return (
    <Page title="Events">
      <Answered query={query}>
        {({ items }) => items.length === 0 ? <Empty>No event yet.</Empty> : (
          <table>
            <thead><tr><th>Status</th><th>Accepted</th><th>Event</th></tr></thead>
            <tbody>
              {items.map(({ id, status, acceptedAt }) => (
                <tr key={id}>
                  <td><Status value={status} /></td>
                  <td><Moment at={acceptedAt} /></td>
                  <td><PageLink to={`/events/${id}`}>{id}</PageLink></td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
      </Answered>
    </Page>
  );
}
