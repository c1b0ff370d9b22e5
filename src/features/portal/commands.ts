import type { Inputs } from "../../../schemas/api.ts";
import { existing, ownOf, requireOwn } from "../../kernel/callers/access.ts";
import { isService, type Caller } from "../../kernel/callers/caller.ts";
import { checkPlainText, cleanName } from "../../kernel/callers/input-rules.ts";
import { isLocal } from "../../kernel/callers/session-cookies.ts";
import { refuse } from "../../kernel/domain/refusal.ts";
import { requireRole } from "../../kernel/domain/roles.ts";
import type { KernelParts } from "../../kernel/kernel-parts.ts";
import type { Origin } from "../../kernel/log/origin.ts";
import { timestampNow } from "../../kernel/ports/clock.ts";
import { sha256 } from "../../kernel/tools/hashing.ts";
import { destinations } from "../destinations/facts.ts";
import { newSecret } from "./codes.ts";
import { decide, type PortalLinkCommand } from "./decide.ts";
import { portalLinks } from "./facts.ts";

/** A portal link as it is shown once. */
interface CreatedPortalLink {
  readonly id: string;
  readonly url: string;
  readonly expiresAt: string;
}

/** Throws a Refusal (forbidden) unless the caller may manage portal links: their rights are at most a Developer's. */
export function requireManager(caller: Caller): void {
  requireRole(caller, isService(caller) ? "Developer" : "Admin", "manage portal links");
}

/** Commands on portal links. */
export class PortalLinkCommands {
  readonly #parts;

  constructor(parts: Pick<KernelParts, "aggregates" | "clock" | "ids"> & { readonly publicUrl: () => string }) {
    this.#parts = parts;
  }

  /** Creates a link; its URL is shown only here. Throws a Refusal (invalid, not-found, forbidden). */
  async create(caller: Caller, input: Inputs["createPortalLink"], origin: Origin): Promise<CreatedPortalLink> {
    const { aggregates, clock, ids, publicUrl } = this.#parts;
    const { ownerId, destinationUrlIds, may, label, sessionSeconds, returnUrl } = input;
    if (ownerId === undefined && destinationUrlIds === undefined) {
      refuse("invalid", "ownerId: or destinationUrlIds is required");
    }
    if (ownerId !== undefined && destinationUrlIds !== undefined) {
      refuse("invalid", "destinationUrlIds: must not be given together with ownerId");
    }
    if (ownerId !== undefined) checkPlainText("ownerId", ownerId);
    const name = label === undefined ? null : cleanName("label", label);
    if (returnUrl !== undefined) checkReturnUrl(returnUrl);
    const named = destinationUrlIds && [...new Set(destinationUrlIds.map((id) => id.toLowerCase()))];
    const found = await Promise.all((named ?? []).map((id) =>
      existing(aggregates, destinations, id, "destinationUrlIds: destination")));
    for (const destination of found) requireOwn(destination, caller, "destination");
    requireManager(caller);
    const id = ids.uuid();
    const code = newSecret(ids, "prt_", id);
    const link = {
      id, tenantId: caller.tenantId, ownerId: ownerId ?? null, destinationIds: named ?? null, may, label: name,
      sessionSeconds, returnUrl: returnUrl ?? null, codeHash: sha256(code),
    };
    const command: PortalLinkCommand = { type: "CreateLink", link, at: timestampNow(clock) };
    await aggregates.change(portalLinks, id, origin, (state) => decide(state, command));
    const { state } = await aggregates.read(portalLinks, id);
    return { id, url: `${publicUrl()}/portal#code=${code}`, expiresAt: state!.expiresAt };
  }

  /** Deletes a link, which ends its session at once. Throws a Refusal (not-found, forbidden). */
  async remove(caller: Caller, id: string, origin: Origin): Promise<void> {
    const { aggregates, clock } = this.#parts;
    await ownOf(aggregates, portalLinks, id, caller, "portal link");
    requireManager(caller);
    const command: PortalLinkCommand = { type: "DeleteLink", at: timestampNow(clock) };
    await aggregates.change(portalLinks, id, origin, (state) => decide(state, command));
  }
}

/** Browsers follow it: a URL of another scheme could be a script. Throws a Refusal (invalid). */
function checkReturnUrl(text: string): void {
  checkPlainText("returnUrl", text);
  const url = URL.parse(text);
  if (url?.protocol !== "https:" && !(url?.protocol === "http:" && isLocal(url.host))) {
    refuse("invalid", "returnUrl: must be an HTTPS URL, or one of http: at localhost");
  }
  if (url.username !== "" || url.password !== "") refuse("invalid", "returnUrl: must not contain a user or password");
}
