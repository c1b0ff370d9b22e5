import { useQuery } from "@tanstack/react-query";
import { relay } from "../../api/relay.ts";
import { useMay } from "../../app/session.ts";

/** A thing that filters can name: its id, and its name for people. */
export interface Named {
  readonly id: string;
  readonly name: string;
}

/** Destinations and senders that the filters offer, and the names of all. */
export interface Names {
  readonly destinations: readonly Named[];
  readonly senders: readonly Named[];
  /** The name of a destination; its id where it is none of those. */
  readonly destination: (id: string) => string;
}

/** The most that a choice offers: others are found by their own page. */
const most = 100;

/** Loads the first destinations and senders by name; none where the caller may not see them. */
export function useNames(): Names {
  const may = useMay();
  const { data: destinations = [] } = useQuery({
    queryKey: ["listDestinations", { CpOrd: "url", Qt: most }],
    queryFn: async () => (await relay.listDestinations({ CpOrd: "url", Qt: most, Total: false })).items
      .map(({ id, url }) => ({ id, name: url.replace(/^https:\/\//, "") })),
    enabled: may("listDestinations"),
  });
  const { data: senders = [] } = useQuery({
    queryKey: ["listSenders", { CpOrd: "name", Qt: most }],
    queryFn: async () => (await relay.listSenders({ CpOrd: "name", Qt: most, Total: false })).items
      .map(({ id, name }) => ({ id, name })),
    enabled: may("listSenders"),
  });
  return { destinations, senders, destination: (id) => destinations.find((each) => each.id === id)?.name ?? id };
}
