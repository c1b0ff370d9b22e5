import { useQuery, type UseQueryResult } from "@tanstack/react-query";
import type { Schemas } from "@webhook-relay/client";
import { relay } from "../../api/relay.ts";
import { useMay } from "../../app/session.ts";

const shown = 20;

/** The newest events that came through a sender, newest first. */
export function useRecordedEvents(senderId: string): UseQueryResult<readonly Schemas["ListedEvent"][]> {
  const allows = useMay();
  return useQuery({
    queryKey: ["listEvents", { SenderId: senderId, for: "mapping" }],
    queryFn: async () =>
      (await relay.listEvents({ SenderId: senderId, Qt: shown, View: "summary", Total: false })).items,
    enabled: allows("listEvents") && allows("listEventHistory"),
  });
}

/** The text of an event as its producer posted it. */
export function useOriginal(eventId: string | undefined): UseQueryResult<string> {
  const allows = useMay();
  return useQuery({
    queryKey: ["listEventHistory", { id: eventId, for: "original" }],
    queryFn: async () => {
      const page = await relay.listEventHistory({ id: eventId ?? "", Type: "EventAccepted", Qt: 1, Total: false });
      const accepted = page.items.find((fact) => fact.type === "EventAccepted");
      if (!accepted) throw new Error("the event was purged");
      return accepted.data.original ?? accepted.data.payload;
    },
    enabled: eventId !== undefined && allows("listEventHistory"),
    staleTime: Infinity,
  });
}
