import { useQuery, useQueryClient, type UseQueryResult } from "@tanstack/react-query";
import type { BodyOf, Schemas } from "@webhook-relay/client";
import { relay } from "../../api/relay.ts";

/** A destination as it is now, asked for again and again: its circuit changes by itself. */
export function useDestination(id: string): UseQueryResult<Schemas["Destination"]> {
  return useQuery({
    queryKey: ["getDestination", { id }],
    queryFn: () => relay.getDestination({ id }),
    refetchInterval: 5_000,
  });
}

/** Changes a destination, then refreshes its page. */
export function useUpdate(id: string): (changes: BodyOf<"updateDestination">) => Promise<void> {
  const refresh = useRefresh(id);
  return async (changes) => {
    await relay.updateDestination({ id }, changes);
    await refresh();
  };
}

/** Refreshes the page of a destination. */
export function useRefresh(id: string): () => Promise<void> {
  const queries = useQueryClient();
  return async () => {
    await Promise.all([
      ...["getDestination", "listDestinationHistory", "listCircuitHistory"].map((operation) =>
        queries.invalidateQueries({ queryKey: [operation, { id }] })),
      queries.invalidateQueries({ queryKey: ["listDestinations"] }),
    ]);
  };
}
