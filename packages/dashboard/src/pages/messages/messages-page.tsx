import { Link, useSearch } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { relay } from "../../api/relay.ts";
import { useChange } from "../../app/navigation.tsx";
import { Listed, usePages } from "../../parts/listed.tsx";
import { useTargets } from "../../parts/names.tsx";
import { Page } from "../../parts/page.tsx";
import { Empty } from "../../parts/states.tsx";
import { Table } from "../../parts/table.tsx";
import { Ago } from "../../parts/time.tsx";
import { outcomeWords } from "../../story/message.ts";
import { plainText, shortId } from "../../story/words.ts";
import { MessageStatus } from "../message/message-status.tsx";
import { filtersIn, MessageFilters, withoutFilters } from "./filters.tsx";

/** How often the list is asked for again, ms. */
const everyMs = 15_000;

/** The messages that senders of the tenant fanned out, the newest first. */
export function MessagesPage(): ReactNode {
  const filters = filtersIn(useSearch({ from: "/signed-in/messages" }));
  const change = useChange();
  const { nameOf } = useTargets();
  const pages = usePages({
    queryKey: ["listMessages", filters], size: 50, refetchInterval: everyMs,
    ask: (page) => relay.listMessages({ ...filters, ...page }),
  });
  const isFiltered = Object.keys(filters).length > 0;
  const empty = isFiltered ? (
    <Empty act={<button type="button" onClick={() => change(withoutFilters)}>Clear filters</button>}>
      No message matches these filters.
    </Empty>
  ) : (
    <Empty act={<Link to="/senders">Senders</Link>}>
      A message is what a producer posts once through a sender that delivers to every destination with a subscription.
      There is none yet.
    </Empty>
  );
  return (
    <Page title="Messages" wide>
      <MessageFilters />
      <Listed pages={pages} empty={empty}>
        {(messages) => (
          <Table
            stacked rows={messages} keyOf={({ id }) => id}
            columns={[
              {
                head: "Type", kind: "main", cell: ({ id, eventType, idempotencyKey }) => (
                  <Link to="/messages/$id" params={{ id }} title={id}>
                    {eventType ?? idempotencyKey ?? <code>{shortId(id)}</code>}
                  </Link>
                ),
              },
              { head: "Status", cell: ({ status }) => <MessageStatus value={status} /> },
              {
                head: "Receivers", kind: "cut", cell: ({ deliveries }) => deliveries.length === 0
                  ? <small>none</small> : `${deliveries.length}: ${plainText(outcomeWords({ deliveries }))}`,
              },
              { head: "Owner", label: "Owner", cell: ({ ownerId }) => ownerId ?? <small>none</small> },
              {
                head: "Sender", label: "Sender", cell: ({ senderId: id }) =>
                  <Link to="/senders/$id" params={{ id }}>{nameOf(id)}</Link>,
              },
              { head: "Accepted", label: "Accepted", cell: ({ acceptedAt }) => <Ago to={acceptedAt} /> },
            ]}
          />
        )}
      </Listed>
    </Page>
  );
}
