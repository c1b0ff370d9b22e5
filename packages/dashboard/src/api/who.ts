import type { RelayClient, Schemas } from "@webhook-relay/client";
import { isPortal, relayOfAnyCaller } from "./relay.ts";

/** Asks for the signed-in person, by default also for a caller off the screen. */
export async function whoIsSignedIn(client: RelayClient = relayOfAnyCaller): Promise<Schemas["Me"]> {
  return isPortal ? (await import("../portal/visitor.ts")).visitorOf(client) : client.getMe();
}
