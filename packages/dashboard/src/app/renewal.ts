import { useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { relayClock } from "../api/clock.ts";
import { meQuery } from "../api/queries.ts";
import { relay } from "../api/relay.ts";

const everyMs = 60_000;
/** A session is renewed in the last part of its time. */
const lastMs = 20 * 60_000;

/** Renews the session before it ends, while its page is visible. Of all tabs one does so at a time. */
export function useRenewal(): void {
  const queries = useQueryClient();
  useEffect(() => {
    const renew = async () => {
      if (document.visibilityState !== "visible") return;
      await navigator.locks.request("relay-renewal", { ifAvailable: true }, async (lock) => {
        if (!lock) return;
        const { expiresAt } = await queries.query({ ...meQuery, staleTime: 0 });
        if (expiresAt === null || Date.parse(expiresAt) - relayClock.now() > lastMs) return;
        await relay.renewSession();
        await queries.invalidateQueries({ queryKey: meQuery.queryKey });
      });
    };
    // A failure shows at the next request of the page itself.
    const timer = setInterval(() => void renew().catch(() => undefined), everyMs);
    return () => clearInterval(timer);
  }, [queries]);
}
