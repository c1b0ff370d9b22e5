import type { RelayClient, Schemas } from "@webhook-relay/client";
import { isPortal, relayOfAnyCaller } from "./relay.ts";

/** Asks who is signed in: by default also a caller that is not on the screen. */
export async function whoIsSignedIn(client: RelayClient = relayOfAnyCaller): Promise<Schemas["Me"]> {
  return isPortal ? (await import("../portal/visitor.ts")).visitorOf(client) : client.getMe();
}
