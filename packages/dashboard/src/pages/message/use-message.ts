import { useQuery, type UseQueryResult } from "@tanstack/react-query";
import type { Schemas } from "@webhook-relay/client";
import { relay } from "../../api/relay.ts";
import { useMay } from "../../app/session.ts";
import { pauseOf } from "../event/use-story.ts";

/** A message, asked for again until all of its deliveries are finished. */
export function useMessage(id: string): UseQueryResult<Schemas["Message"]> {
  return useQuery({
    queryKey: ["getMessage", { id }],
    queryFn: () => relay.getMessage({ id }),
    refetchInterval: ({ state }) => pauseOf(state.data?.status),
  });
}

/** A sender that fans out has at most so many subscriptions without owner, and so many for each owner. */
const mostRead = 1_000;

/** The subscriptions of a sender as they are now, by their ids; undefined until they are known. */
export function useSubscriptions(senderId: string): ReadonlyMap<string, Schemas["Subscription"]> | undefined {
  const allows = useMay();
  const { data } = useQuery({
    queryKey: ["listSubscriptions", { SenderId: senderId }, "by id"],
    queryFn: async () => {
      const all = new Map<string, Schemas["Subscription"]>();
      for await (const one of relay.listSubscriptions({ SenderId: senderId, Qt: 100, Total: false })) {
        all.set(one.id, one);
        if (all.size === mostRead) break;
      }
      return all;
    },
    enabled: allows("listSubscriptions"),
    staleTime: 60_000,
  });
  return data;
}
