import { refuse } from "../../kernel/domain/refusal.ts";
import { requireRole, type Acting } from "../../kernel/domain/roles.ts";
import { changesOf, type NewValues } from "../../kernel/domain/settings.ts";
import type { Timestamp } from "../../kernel/domain/time.ts";
import { viewFacts, type View, type ViewEvent, type ViewSettings, type ViewState } from "./facts.ts";

/** Commands to a view; in a change, fields left out (undefined) stay as they are. */
export type ViewCommand =
  | {
      readonly type: "SaveView";
      readonly view: Omit<View, "createdAt" | "deleted">;
      readonly by: Acting;
      readonly at: Timestamp;
    }
  | NewValues<ViewSettings> & { readonly type: "ChangeView"; readonly by: Acting; readonly at: Timestamp }
  | { readonly type: "DeleteView"; readonly at: Timestamp };

/** The facts that a command leads to; an empty list when it changes nothing. Throws a Refusal. */
export function decide(state: ViewState, command: ViewCommand): ViewEvent[] {
  const { at } = command;
  if (command.type === "SaveView") {
    const { view: { id: viewId, ...view }, by } = command;
    if (state) refuse("conflict", "the view exists already");
    requireSharer(by, view);
    return [{ type: "ViewSaved", data: { ...view, viewId, at } }];
  }
  if (!state || state.deleted) refuse("not-found", "view not found");
  const { id: viewId, tenantId, ownerUserId } = state;
  const ids = { viewId, tenantId, ownerUserId, at };
  if (command.type === "DeleteView") return [{ type: "ViewDeleted", data: ids }];
  requireSharer(command.by, { shared: command.shared ?? state.shared });
  return changesOf(viewFacts, state, command, ids);
}

function requireSharer(by: Acting, { shared }: Pick<ViewSettings, "shared">): void {
  if (shared) requireRole(by, "Developer", "share views with the tenant");
}
