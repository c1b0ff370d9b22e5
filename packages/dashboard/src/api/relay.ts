import { createClient } from "@webhook-relay/client";
import { relayClock } from "./clock.ts";

/** The address of this script: `<the relay's address>/app/assets/`, below the path that a proxy may add. */
const here = import.meta.url;

/** The relay's address, with a slash at its end. */
export const relayAddress = new URL("../../", here).href;

/** The path under which all pages lie, without a slash at its end. */
export const pagesPath = new URL("../", here).pathname.replace(/\/$/, "");

/** Whether these are the pages of the portal, not of the dashboard. */
export const isPortal = pagesPath.endsWith("/portal");

/**
 * Whose pages these are. `id` is that of the caller on the screen. `check` asks who is signed in now, and shows the new
 * caller, or the sign-in, where that is another one.
 */
export const caller: { id?: string; check: () => void } = { check: () => undefined };

const fetchOnClock: typeof fetch = async (address, init) => {
  const headers = new Headers(init?.headers);
  // In a browser with both cookies this one counts.
  if (isPortal) headers.set("X-Relay-Portal", "true");
  const answer = await fetch(address, { ...init, headers });
  relayClock.hear(answer.headers.get("date"));
  return answer;
};

/**
 * The relay's API. The browser sends the session's cookie by itself, and another tab may have replaced it: so every
 * request names the caller on the screen, and the relay refuses it for any other.
 */
export const relay = createClient({
  url: relayAddress,
  fetch: async (address, init) => {
    const headers = new Headers(init?.headers);
    if (caller.id !== undefined) headers.set("X-Relay-Principal", caller.id);
    const answer = await fetchOnClock(address, { ...init, headers });
    if (answer.status === 412) caller.check();
    return answer;
  },
});

/** The same API for any signed-in caller, whether or not the screen shows that caller. */
export const relayOfAnyCaller = createClient({ url: relayAddress, fetch: fetchOnClock });
