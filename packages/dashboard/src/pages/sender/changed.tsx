import { useQueryClient } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { relay } from "../../api/relay.ts";
import { ChangedSince } from "../../parts/changed-since.tsx";

/** Asks for senders and their histories again after a change. */
export function useSenderChanged(): () => Promise<unknown> {
  const queries = useQueryClient();
  return () => Promise.all(["getSender", "listSenders", "listSenderHistory"].map((operation) =>
    queries.invalidateQueries({ queryKey: [operation] })));
}

/** Lists the changes of a sender since a moment, for a person with its form open. */
export function SenderChangedSince({ id, moment }: { readonly id: string; readonly moment: string }): ReactNode {
  return (
    <ChangedSince
      moment={moment} operation="listSenderHistory" id={id}
      ask={(newest) => relay.listSenderHistory({ id, ...newest })}
    />
  );
}
