import type { RelayClient, Schemas } from "@webhook-relay/client";
import { product } from "../parts/page.tsx";
import { linkCode } from "./code.ts";

/** The visitor of the portal, as the pages know a caller, and its session. */
export type Visitor = Schemas["Me"] & { readonly session: Schemas["PortalSession"] };

let code = linkCode;

/** The session that these pages have had last, for the page after its end. */
export const last: { session?: Schemas["PortalSession"] } = {};

/** Asks for the visitor. The code of a link is traded for its session first. */
export async function visitorOf(client: RelayClient): Promise<Visitor> {
  if (code !== undefined) {
    await client.openPortalSession({ code, embedded: window.self !== window.top });
    code = undefined;
  }
  const session = await client.getPortalSession();
  last.session = session;
  const { id, label, brand, expiresAt, operations } = session;
  product.name = brand.name ?? product.name;
  return {
    session, expiresAt, operations, scopes: null, role: "Viewer",
    principal: { type: "user", id, name: label }, tenant: { id, name: product.name },
  };
}
