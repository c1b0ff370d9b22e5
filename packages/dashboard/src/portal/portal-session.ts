import type { Schemas } from "@webhook-relay/client";
import { isPortal } from "../api/relay.ts";
import { useMe } from "../app/session.ts";
import type { Visitor } from "./visitor.ts";

/** The session of the portal's visitor; undefined in the dashboard. */
export function usePortalSession(): Schemas["PortalSession"] | undefined {
  const me = useMe();
  return isPortal ? (me as Visitor).session : undefined;
}
