import { destinations, destinationsSelected } from "../../../projections/destinations/destinations.ts";
import { mostNamed, type Audience, type PortalCaller } from "../../kernel/callers/caller.ts";
import { refuse } from "../../kernel/domain/refusal.ts";
import type { KernelParts } from "../../kernel/kernel-parts.ts";
import type { Origin } from "../../kernel/log/origin.ts";
import { timestampNow } from "../../kernel/ports/clock.ts";
import { sha256 } from "../../kernel/tools/hashing.ts";
import { tenants } from "../tenants/facts.ts";
import { linkIdOf, newSecret } from "./codes.ts";
import { decide, refuseCode, type PortalLinkCommand } from "./decide.ts";
import { isOpenTo, portalLinks, type PortalLink } from "./facts.ts";

/** The token of a session that has just begun. */
interface BegunSession {
  readonly token: string;
  readonly seconds: number;
}

/** The sessions of the portal's visitors: one for each link. */
export class PortalSessions {
  readonly #parts;

  constructor(parts: Pick<KernelParts, "aggregates" | "readModels" | "freshness" | "clock" | "ids">) {
    this.#parts = parts;
  }

  /** Trades the code of a link, once, for the token of its session. Throws a Refusal (unauthenticated). */
  async begin(code: string, embedded: boolean, originOf: (linkId: string) => Origin): Promise<BegunSession> {
    const { aggregates, clock, ids } = this.#parts;
    const id = linkIdOf("prt_", code) ?? refuseCode();
    const token = newSecret(ids, "prs_", id);
    const at = timestampNow(clock);
    const command: PortalLinkCommand =
      { type: "BeginSession", codeHash: sha256(code), sessionHash: sha256(token), embedded, at };
    const { state } = await aggregates.current(portalLinks, id);
    await this.#requireTenant(state, refuseCode);
    await aggregates.change(portalLinks, id, originOf(id), (link) => decide(link, command));
    return { token, seconds: state!.sessionSeconds };
  }

  /** The visitor whom a session's token proves. Throws a Refusal (unauthenticated, unavailable). */
  async authenticate(token: string): Promise<PortalCaller> {
    const { aggregates, clock } = this.#parts;
    const id = linkIdOf("prs_", token) ?? refuseSession();
    const { state: link } = await aggregates.current(portalLinks, id);
    if (!link || !isOpenTo(link, sha256(token), timestampNow(clock))) refuseSession();
    await this.#requireTenant(link, refuseSession);
    const { tenantId, may, session } = link;
    const audience = await this.#audienceOf(link);
    // Commands that the portal offers need no higher role; the link's rights decide.
    return { portalLinkId: id, tenantId, role: "Developer", may, audience, expiresAt: session!.endsAt };
  }

  /** Ends the visitor's session at once. */
  async end({ portalLinkId }: PortalCaller, origin: Origin): Promise<void> {
    const { aggregates, clock } = this.#parts;
    const command: PortalLinkCommand = { type: "EndSession", at: timestampNow(clock) };
    await aggregates.change(portalLinks, portalLinkId, origin, (state) => decide(state, command));
  }

  /** The streams of an erased tenant are gone, but may still be in memory. */
  async #requireTenant(link: PortalLink | undefined, refuseIt: () => never): Promise<void> {
    const { state: tenant } = link ? await this.#parts.aggregates.read(tenants, link.tenantId) : {};
    if (!tenant) refuseIt();
  }

  async #audienceOf({ tenantId, ownerId, destinationIds }: PortalLink): Promise<Audience> {
    if (ownerId === null) return { ownerId, destinationIds: new Set(destinationIds) };
    const { readModels, freshness } = this.#parts;
    const order = { field: destinations.key, descending: false };
    const owned = { ...destinationsSelected({ tenantId, ownerId }), order, limit: mostNamed };
    return { ownerId, destinationIds: new Set(await freshness.ask(() => readModels.keys(owned))) };
  }
}

function refuseSession(): never {
  refuse("unauthenticated", "Cookie: the session of the portal is over");
}
