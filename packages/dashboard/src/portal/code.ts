import { isPortal } from "../api/relay.ts";

/** The code of the portal link that led here. It is a secret, so it is removed from the address at once. */
export const linkCode = isPortal ? /^#code=(.+)$/.exec(location.hash)?.[1] : undefined;

if (linkCode !== undefined) history.replaceState(null, "", location.pathname + location.search);
