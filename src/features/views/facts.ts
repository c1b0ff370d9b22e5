import { at, fact, type EventsOf } from "../../kernel/domain/fact.ts";
import { anyText, boolean, text, uuid } from "../../kernel/domain/schema.ts";
import { withChanges } from "../../kernel/domain/settings.ts";
import { streams } from "../../kernel/domain/streams.ts";
import type { Timestamp } from "../../kernel/domain/time.ts";
import type { AggregateType } from "../../kernel/log/aggregates.ts";

const ids = { viewId: uuid("The view."), tenantId: uuid(), ownerUserId: uuid("The person who saved it."), at };
const settings = {
  name: text("What its owner calls it."),
  page: text("The page that it filters."),
  query: anyText("The filters, as the query of the page's address."),
  shared: boolean("Whether all people of the tenant see it."),
};
const told = ["viewId", "tenantId", "ownerUserId", "at"] as const;

/** Facts of a `view-<id>` stream: of filters that a person saved. The audit does not show name and filters. */
export const viewFacts = {
  ViewSaved: fact({
    data: { ...ids, ...settings },
    meaning: "A person saved the filters of a page as a view.",
    words: "saved a view of {page}",
    shown: [...told, "page", "shared"],
    audit: "view",
    creates: true,
  }),
  ViewChanged: fact({
    data: { ...ids, ...settings },
    meaning: "The name, the filters or the sharing of the view changed.",
    words: "changed a view of {page}",
    shown: [...told, "page", "shared"],
    changes: ["name", "page", "query", "shared"],
    audit: "view",
  }),
  ViewDeleted: fact({
    data: ids,
    meaning: "The view was deleted, by its owner or with its owner.",
    words: "deleted a view",
    shown: told,
    audit: "view",
  }),
};
export type ViewEvent = EventsOf<typeof viewFacts>;

/** The settings of a view. */
export interface ViewSettings {
  readonly name: string;
  readonly page: string;
  readonly query: string;
  readonly shared: boolean;
}

/** The filters of a page that a person saved. */
export interface View extends ViewSettings {
  readonly id: string;
  readonly tenantId: string;
  readonly ownerUserId: string;
  readonly createdAt: Timestamp;
  readonly deleted: boolean;
}

/** Undefined before it was saved; a deleted one stays, marked. */
export type ViewState = View | undefined;

/** Folds one fact in. */
export function evolve(state: ViewState, event: ViewEvent): ViewState {
  if (event.type === "ViewSaved") {
    const { viewId: id, at: createdAt, ...saved } = event.data;
    return { ...saved, id, createdAt, deleted: false };
  }
  if (!state) return state;
  return event.type === "ViewDeleted" ? { ...state, deleted: true } : withChanges(viewFacts, state, event);
}

/** Views by id, deleted ones too. */
export const views: AggregateType<View, ViewEvent> = { category: "view", stream: streams.view, evolve };
