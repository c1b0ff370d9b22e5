import { useQuery } from "@tanstack/react-query";
import type { Schemas } from "@webhook-relay/client";
import type { ReactNode } from "react";
import shared from "../style/shared.module.css";
import { FactLine } from "./fact-line.tsx";

type History = { readonly items: readonly Schemas["HistoryItem"][] };

/** Lists the changes of a thing since its form was opened. `operation` reads its history. */
export function ChangedSince({ moment, operation, id, ask }: {
  readonly moment: string;
  readonly operation: string;
  readonly id: string;
  /** Asks for the newest entries of the history. */
  readonly ask: (newest: typeof newestFirst) => PromiseLike<History>;
}): ReactNode {
  const { data } = useQuery({
    queryKey: [operation, { id }, "newest"], queryFn: async () => ask(newestFirst), staleTime: 0,
    refetchInterval: 5_000,
  });
  const since = (data?.items ?? []).filter(({ time }) => time > moment);
  return (
    <div className={shared.stale} role="status">
      <p>This was changed meanwhile. What you typed stays, and only that is saved.</p>
      {since.map((fact) => <FactLine key={fact.position} fact={fact} />)}
    </div>
  );
}

const newestFirst = { Qt: 20, TpOrd: "Desc", Total: false } as const;
