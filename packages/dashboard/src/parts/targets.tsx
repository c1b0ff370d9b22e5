import { useQuery } from "@tanstack/react-query";
import { useMemo, type ReactNode } from "react";
import { destinationNames, none, senderNames, type Named } from "../api/names.ts";

/** Where events go and come from: what filters choose among, and its names. */
export interface Targets {
  /** The destinations by their URLs; none where the caller may not list them. */
  readonly destinations: readonly Named[];
  /** The senders by their names; none where the caller may not list them. */
  readonly senders: readonly Named[];
  /** The name of a destination or sender; its id where it is deleted, or may not be read. */
  readonly nameOf: (id: string) => string;
}

/** The destinations and senders of the tenant. */
export function useTargets(): Targets {
  const { data: destinations = none } = useQuery(destinationNames);
  const { data: senders = none } = useQuery(senderNames);
  const names = useMemo(
    () => new Map([...destinations, ...senders].map(({ id, name }) => [id, name])), [destinations, senders]);
  return { destinations, senders, nameOf: (id) => names.get(id) ?? id };
}

/**
 * The options of a select for targets; `any` is the text for none of them. The chosen one is always an option, also
 * while the others are loaded, or where it is deleted: without its option the select would fall back to `any`.
 */
export function TargetOptions({ targets, any, chosen }: {
  readonly targets: readonly Named[]; readonly any: string; readonly chosen: string;
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
