import { useQuery } from "@tanstack/react-query";
import { Link, useSearch } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { relay } from "../../api/relay.ts";
import { FactChange } from "../../parts/fact-change.tsx";
import { FactRows } from "../../parts/fact-rows.tsx";
import { Answered } from "../../parts/states.tsx";
import shared from "../../style/shared.module.css";

const pageSize = 50;

/** Every change of a sender, the newest first. */
export function SenderChanges({ id }: { readonly id: string }): ReactNode {
  const search = useSearch({ from: "/signed-in/senders/$id" });
  const { cursor } = search;
  const parameters = { id, Qt: pageSize, TpOrd: "Desc", Total: false, ...(cursor ? { Cursor: cursor } : {}) } as const;
  const query = useQuery({
    queryKey: ["listSenderHistory", parameters],
    queryFn: () => relay.listSenderHistory(parameters),
  });
  return (
    <Answered query={query}>
      {({ items, nextCursor }) => (
        <>
          <FactRows facts={items}>
            {(fact) => <FactChange fact={fact} subject={{ type: "sender", id }} />}
          </FactRows>
          {nextCursor !== null && (
            <p>
              <Link
                to="/senders/$id" params={{ id }} search={{ ...search, cursor: nextCursor }} className={shared.button}
              >
                Older changes
              </Link>
            </p>
          )}
        </>
      )}
    </Answered>
  );
}
