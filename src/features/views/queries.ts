import { views, viewsSeenBy, type ViewDocument } from "../../../projections/views/views.ts";
import type { components } from "../../../schemas/api.ts";
import viewSchema from "../../../schemas/responses/view.json" with { type: "json" };
import type { Session } from "../../kernel/callers/caller.ts";
import type { KernelParts } from "../../kernel/kernel-parts.ts";
import { fieldsOf } from "../../kernel/read-models/fields-of.ts";
import { listed, type Page, type PageRequest } from "../../kernel/read-models/paging.ts";

/** Queries about views. */
export class ViewQueries {
  readonly #parts;

  constructor(parts: Pick<KernelParts, "readModels" | "freshness">) {
    this.#parts = parts;
  }

  /** The caller's own views, and those that others share. Throws a Refusal (unavailable). */
  list({ tenantId, userId }: Session, page: PageRequest): Promise<Page<SavedView>> {
    return listed(this.#parts, views, { ...viewsSeenBy(tenantId, userId), counter: null, page }, viewOf);
  }
}

/** A view as the API shows it. */
export type SavedView = Readonly<components["schemas"]["View"]>;

/** The API's view of a saved one. */
export function viewOf(view: Omit<ViewDocument, "seenBy">): SavedView {
  return fieldsOf<SavedView>(viewSchema, view);
}
