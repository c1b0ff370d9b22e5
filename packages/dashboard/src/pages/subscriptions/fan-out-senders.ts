import { useQuery } from "@tanstack/react-query";
import { senderNames, type Named } from "../../parts/names.tsx";
import { usePortalSession } from "../../portal/portal-session.ts";

/** The senders that a destination can be subscribed to, as far as the reader may know them. */
export function useFanOutSenders(): readonly Named[] {
  const session = usePortalSession();
  const { data = [] } = useQuery(senderNames);
  return session?.senders ?? data.filter(({ fanOut }) => fanOut === true);
}
