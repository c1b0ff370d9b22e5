import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { relay } from "../api/relay.ts";
import { useMay } from "../app/session.ts";

/** The most destinations and senders that are offered and named; those beyond are shown by their ids. */
const namedAtMost = 100;
const page = { Qt: namedAtMost, CpOrd: "createdAt", TpOrd: "Desc", Total: false } as const;

/** A destination or sender, as it is chosen and named. */
export interface Target {
  readonly id: string;
  readonly name: string;
}

/** The newest destinations by their URLs, and the newest senders by their names. */
export function useTargets(): {
  readonly destinations: readonly Target[];
  readonly senders: readonly Target[];
  /** The name of a destination or sender; the beginning of its id where it is deleted or too old. */
  readonly nameOf: (id: string) => string;
} {
  const allows = useMay();
  const destinationsQuery = useQuery({
    queryKey: ["listDestinations", page],
    queryFn: () => relay.listDestinations(page),
    enabled: allows("listDestinations"),
  });
  const sendersQuery = useQuery({
    queryKey: ["listSenders", page],
    queryFn: () => relay.listSenders(page),
    enabled: allows("listSenders"),
  });
  const destinations = (destinationsQuery.data?.items ?? []).map(({ id, url }) => ({ id, name: url }));
  const senders = (sendersQuery.data?.items ?? []).map(({ id, name }) => ({ id, name }));
  const names = new Map([...destinations, ...senders].map(({ id, name }) => [id, name]));
  return { destinations, senders, nameOf: (id) => names.get(id) ?? `${id.slice(0, 8)}…` };
}

/**
 * The options of a select for targets; `any` is the text for none of them. The chosen one is always an option, also
 * while the others are loaded, or where it is too old: without its option the select would fall back to `any`.
 */
export function TargetOptions({ targets, any, chosen }: {
  readonly targets: readonly Target[]; readonly any: string; readonly chosen: string;
}): ReactNode {
  const isKnown = chosen === "" || targets.some(({ id }) => id === chosen);
  const all = isKnown ? targets : [...targets, { id: chosen, name: chosen }];
  return (
    <>
      <option value="">{any}</option>
      {all.map(({ id, name }) => <option key={id} value={id}>{name}</option>)}
    </>
  );
}
