import { useQuery } from "@tanstack/react-query";
import { relay } from "../../api/relay.ts";
import { useMay } from "../../app/session.ts";

const newest = { Qt: 100, Total: false } as const;
const most = 40;

/**
 * The event types that the newest messages have, and those that subscriptions name, sorted. In the portal: those of its
 * own events and subscriptions.
 */
export function useKnownTypes(senderId?: string): readonly string[] {
  const mayListMessages = useMay()("listMessages");
  const of = senderId === undefined ? {} : { SenderId: senderId };
  const seen = useQuery({
    queryKey: [mayListMessages ? "listMessages" : "listEvents", "types", of],
    queryFn: async () => {
      const { items } = await (mayListMessages
        ? relay.listMessages({ ...of, ...newest }) : relay.listEvents({ ...of, ...newest }));
      return items.flatMap(({ eventType }) => eventType ?? []);
    },
    staleTime: 60_000,
  });
  const declared = useQuery({
    queryKey: ["listSubscriptions", "types", of],
    queryFn: async () =>
      (await relay.listSubscriptions({ ...of, ...newest })).items.flatMap(({ eventTypes }) => eventTypes ?? []),
  });
  return [...new Set([...declared.data ?? [], ...seen.data ?? []])].slice(0, most).sort();
}
