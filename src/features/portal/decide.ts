import { refuse } from "../../kernel/domain/refusal.ts";
import { millis, timestamp, type Timestamp } from "../../kernel/domain/time.ts";
import type { PortalLinkEvent, PortalLinkSettings, PortalLinkState } from "./facts.ts";

/** How long the code of a link is valid. */
export const codeMs = 60_000;

/** Commands to a portal link. */
export type PortalLinkCommand =
  | {
      readonly type: "CreateLink";
      readonly link: PortalLinkSettings & { readonly id: string; readonly tenantId: string; readonly codeHash: string };
      readonly at: Timestamp;
    }
  | {
      readonly type: "BeginSession";
      readonly codeHash: string;
      readonly sessionHash: string;
      readonly embedded: boolean;
      readonly at: Timestamp;
    }
  | { readonly type: "EndSession"; readonly at: Timestamp }
  | { readonly type: "DeleteLink"; readonly at: Timestamp };

/** The facts that a command leads to; an empty list when it changes nothing. Throws a Refusal. */
export function decide(state: PortalLinkState, command: PortalLinkCommand): PortalLinkEvent[] {
  const { at } = command;
  if (command.type === "CreateLink") {
    if (state) refuse("conflict", "the portal link exists already");
    const { id: portalLinkId, ...link } = command.link;
    return [{ type: "PortalLinkCreated", data: { portalLinkId, ...link, expiresAt: later(at, codeMs), at } }];
  }
  if (command.type === "BeginSession") {
    const { codeHash, sessionHash, embedded } = command;
    if (!state || state.deleted || state.session || state.codeHash !== codeHash || at >= state.expiresAt) refuseCode();
    const data = { portalLinkId: state.id, tenantId: state.tenantId, at };
    const expiresAt = later(at, state.sessionSeconds * 1_000);
    return [{ type: "PortalSessionBegun", data: { ...data, sessionHash, embedded, expiresAt } }];
  }
  if (!state || state.deleted) refuse("not-found", "portal link not found");
  const data = { portalLinkId: state.id, tenantId: state.tenantId, at };
  if (command.type === "DeleteLink") return [{ type: "PortalLinkDeleted", data }];
  return state.session && at < state.session.endsAt ? [{ type: "PortalSessionEnded", data }] : [];
}

/** The answer to any bad code: the reason stays open. */
export const badCode = "code: is not valid, was used before, or is older than a minute; ask for another link";

/** Refuses a code, in the same words for every reason. */
export function refuseCode(): never {
  refuse("unauthenticated", badCode);
}

function later(at: Timestamp, ms: number): Timestamp {
  return timestamp(millis(at) + ms);
}
