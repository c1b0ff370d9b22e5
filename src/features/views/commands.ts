import { ownerCounter, views as collection } from "../../../projections/views/views.ts";
import type { Inputs } from "../../../schemas/api.ts";
import { ownOf } from "../../kernel/callers/access.ts";
import { isPortal, isService, type Caller, type Session } from "../../kernel/callers/caller.ts";
import { cleanName } from "../../kernel/callers/input-rules.ts";
import { refuse } from "../../kernel/domain/refusal.ts";
import type { KernelParts } from "../../kernel/kernel-parts.ts";
import type { Origin } from "../../kernel/log/origin.ts";
import { timestampNow } from "../../kernel/ports/clock.ts";
import { everyDocument } from "../../kernel/read-models/scans.ts";
import { decide, type ViewCommand } from "./decide.ts";
import { views, type View } from "./facts.ts";
import { viewOf, type SavedView } from "./queries.ts";

/** Views of one person at most. */
export const mostViews = 100;

/** Commands on views. */
export class ViewCommands {
  readonly #parts;

  constructor(parts: Pick<KernelParts, "aggregates" | "readModels" | "freshness" | "clock" | "ids">) {
    this.#parts = parts;
  }

  /** Saves a view of the caller's. Throws a Refusal (invalid, forbidden, rejected). */
  async save(caller: Session, input: Inputs["createView"], origin: Origin): Promise<SavedView> {
    const { aggregates, readModels, freshness, clock, ids } = this.#parts;
    const { page, query, shared } = input;
    const { tenantId, userId: ownerUserId } = caller;
    const view = { id: ids.uuid(), tenantId, ownerUserId, name: cleanName("name", input.name), page, query, shared };
    const command: ViewCommand = { type: "SaveView", view, by: caller, at: timestampNow(clock) };
    decide(undefined, command);
    const saved = await freshness.ask(() => readModels.sum(ownerCounter(ownerUserId)));
    if (saved >= mostViews) refuse("rejected", `you have ${mostViews} views, which is the most; delete one`);
    await aggregates.change(views, view.id, origin, (state) => decide(state, command));
    return viewOf({ ...view, createdAt: command.at });
  }

  /** Throws a Refusal (invalid, not-found, forbidden). */
  async change(caller: Caller, id: string, input: Inputs["updateView"], origin: Origin): Promise<SavedView> {
    const { aggregates, clock } = this.#parts;
    const name = input.name === undefined ? undefined : cleanName("name", input.name);
    await this.#own(caller, id);
    const { page, query, shared } = input;
    const command: ViewCommand =
      { type: "ChangeView", name, page, query, shared, by: caller, at: timestampNow(clock) };
    await aggregates.change(views, id, origin, (state) => decide(state, command));
    return viewOf(await this.#own(caller, id));
  }

  /** Throws a Refusal (not-found, forbidden). */
  async remove(caller: Caller, id: string, origin: Origin): Promise<void> {
    await this.#own(caller, id);
    await this.#delete(id, origin);
  }

  /** Deletes all views of a deleted person. It can be repeated. Throws a Refusal (unavailable). */
  async removeAllOf(ownerUserId: string, origin: Origin): Promise<void> {
    const { aggregates, readModels, freshness } = this.#parts;
    const own = await freshness.ask(() => everyDocument(readModels, collection, { where: { ownerUserId } }));
    for (const { id } of own) {
      const { state } = await aggregates.current(views, id);
      if (state && !state.deleted) await this.#delete(id, origin);
    }
  }

  async #delete(id: string, origin: Origin): Promise<void> {
    const { aggregates, clock } = this.#parts;
    const command: ViewCommand = { type: "DeleteView", at: timestampNow(clock) };
    await aggregates.change(views, id, origin, (state) => decide(state, command));
  }

  async #own(caller: Caller, id: string): Promise<View> {
    const view = await ownOf(this.#parts.aggregates, views, id, caller, "view");
    if (isService(caller) || isPortal(caller)) refuse("forbidden", "only a user may do this, not a service account");
    return caller.userId === view.ownerUserId ? view : refuse("forbidden", "the view belongs to another person");
  }
}
