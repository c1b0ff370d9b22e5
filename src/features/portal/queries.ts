import { portalLinks as collection, type PortalLinkDocument } from "../../../projections/portal-links/portal-links.ts";
import { senders, type SenderDocument } from "../../../projections/senders/senders.ts";
import type { components } from "../../../schemas/api.ts";
import type { Caller, PortalCaller } from "../../kernel/callers/caller.ts";
import type { KernelParts } from "../../kernel/kernel-parts.ts";
import { timestampNow } from "../../kernel/ports/clock.ts";
import { listed, type Page, type PageRequest } from "../../kernel/read-models/paging.ts";
import { requireManager } from "./commands.ts";
import { portalLinks, type PortalLink } from "./facts.ts";

const mostSenders = 100;

/** A portal link as the API shows it. */
export type PortalLinkView = Readonly<components["schemas"]["PortalLink"]>;

/** The portal's looks, as the operator set them. */
export type PortalBrand = Readonly<components["schemas"]["PortalSession"]["brand"]>;

/** The session of a visitor as the API shows it, but for the operations. */
export type PortalSessionView = Readonly<Omit<components["schemas"]["PortalSession"], "operations">>;

/** Queries about portal links. */
export class PortalLinkQueries {
  readonly #parts;

  constructor(
    parts: Pick<KernelParts, "aggregates" | "readModels" | "freshness" | "clock"> & { readonly brand: PortalBrand },
  ) {
    this.#parts = parts;
  }

  /** The links whose code or session is still good. Throws a Refusal (forbidden, unavailable). */
  async list(caller: Caller, page: PageRequest): Promise<Page<PortalLinkView>> {
    requireManager(caller);
    const range = { field: "endsAt", from: timestampNow(this.#parts.clock) };
    const asked = { where: { tenantId: caller.tenantId }, range, counter: null, page };
    return listed(this.#parts, collection, asked, portalLinkView);
  }

  /** The visitor's own session. */
  async session(caller: PortalCaller): Promise<PortalSessionView> {
    const { aggregates, brand } = this.#parts;
    const { portalLinkId, expiresAt } = caller;
    const link = (await aggregates.read(portalLinks, portalLinkId)).state as PortalLink;
    const { id, ownerId, may, label, returnUrl, session } = link;
    const senders = may.includes("configure") && ownerId !== null ? await this.#senders(caller) : [];
    return { id, ownerId, may: [...may], label, returnUrl, embedded: session!.embedded, expiresAt, brand, senders };
  }

  /** The senders to which customers may subscribe. */
  async #senders({ tenantId }: PortalCaller): Promise<PortalSessionView["senders"]> {
    const { readModels, freshness } = this.#parts;
    const order = { field: "name", descending: false };
    const selected = { collection: senders.name, where: { tenantId, fanOut: true, active: true } };
    const found = await freshness.ask(() => readModels.find({ ...selected, order, limit: mostSenders }));
    return (found as readonly SenderDocument[]).map(({ id, name }) => ({ id, name }));
  }
}

/** The API's view of a portal link as the read models have it. */
function portalLinkView({ begunAt, endsAt, embedded, ...link }: PortalLinkDocument): PortalLinkView {
  const { may, destinationUrlIds } = link;
  const session = begunAt === null ? null : { begunAt, endsAt, embedded: embedded === true };
  return { ...link, may: [...may], destinationUrlIds: destinationUrlIds && [...destinationUrlIds], session };
}
