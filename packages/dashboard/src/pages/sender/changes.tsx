import type { ReactNode } from "react";
import { relay } from "../../api/relay.ts";
import { FactChange } from "../../parts/fact-change.tsx";
import { FactRows } from "../../parts/fact-rows.tsx";
import { Listed, usePages } from "../../parts/listed.tsx";

/** Every change of a sender, the newest first. */
export function SenderChanges({ id }: { readonly id: string }): ReactNode {
  const pages = usePages({
    queryKey: ["listSenderHistory", { id }], size: 50,
    ask: (page) => relay.listSenderHistory({ id, ...page, TpOrd: "Desc" }),
  });
  return (
    <Listed pages={pages} empty={null}>
      {(facts) => (
        <FactRows facts={facts}>
          {(fact) => <FactChange fact={fact} subject={{ type: "sender", id }} />}
        </FactRows>
      )}
    </Listed>
  );
}
