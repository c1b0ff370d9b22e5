import createView from "../../../schemas/requests/create-view.json" with { type: "json" };
import listViews from "../../../schemas/requests/list-views.json" with { type: "json" };
import updateView from "../../../schemas/requests/update-view.json" with { type: "json" };
import { usersOnly } from "../../kernel/operations/access.ts";
import { json, nothing, page, problem } from "../../kernel/operations/description.ts";
import { changeOf } from "../../kernel/operations/extended.ts";
import { pathId, sessionOf, signedIn, type Operation } from "../../kernel/operations/operation.ts";
import { view } from "../examples.ts";
import type { Services } from "../services.ts";

const person = usersOnly("Viewer");
const changedView = changeOf(createView, updateView);
const id = "The view's id.";
const tag = "Views";
const others = ["the view belongs to another tenant", "the view belongs to another person"] as const;
const mayNotShare = "only Developer or above may share views with the tenant";
const notAUser = "only a user may do this, not a service account";
const own = { name: view.name, page: view.page, query: view.query };

/** Saved filters of the caller, and those that others of the tenant share. */
export function viewOperations({ commands, queries }: Services): Operation[] {
  return [
    signedIn({
      id: "createView",
      route: "POST /api/v1/views",
      access: person,
      tag,
      summary: "Save a view",
      description:
        "The filters of a page, under a name. Sharing it with the tenant needs Developer. A person has 100 views at " +
        "most; they are deleted with the person.",
      body: createView,
      examples: { "for oneself": own, shared: { ...own, shared: true } },
      answers: {
        201: json("view", "The view.", view),
        403: problem("The caller is a service account, or a Viewer that shares it.", mayNotShare, notAUser),
        422: problem("The person has the most views.", "you have 100 views, which is the most; delete one"),
      },
    }, async (call) => ({
      status: 201,
      body: await commands.views.save(sessionOf(call), call.input, call.origin),
    })),
    signedIn({
      id: "listViews",
      route: "GET /api/v1/views",
      access: person,
      tag,
      summary: "List views",
      description: "The caller's own, and those that others share with the tenant.",
      list: listViews,
      answers: {
        200: page("view", "A page of views.", view),
        403: problem("The caller is a service account.", notAUser),
      },
    }, async (call) => ({
      status: 200,
      body: await queries.views.list(sessionOf(call), call.input.page),
    })),
    signedIn({
      id: "updateView",
      route: "PATCH /api/v1/views/:id",
      access: person,
      tag,
      summary: "Change a view",
      description: "Absent fields stay unchanged. Only its owner changes a view. A shared one needs Developer.",
      parameters: { id },
      body: changedView,
      examples: { "another name": { name: "Given up today" }, "share it": { shared: true } },
      answers: {
        200: json("view", "The view as it is now.", view),
        403: problem("The view belongs to another, or a Viewer would share it.", ...others, mayNotShare, notAUser),
      },
    }, async (call) => ({
      status: 200,
      body: await commands.views.change(call.caller, pathId(call), call.input, call.origin),
    })),
    signedIn({
      id: "deleteView",
      route: "DELETE /api/v1/views/:id",
      access: person,
      tag,
      summary: "Delete a view",
      description: "Only its owner deletes a view, also for others who see it.",
      parameters: { id },
      answers: {
        204: nothing("Deleted."),
        403: problem("The view belongs to another.", ...others, notAUser),
      },
    }, async (call) => {
      await commands.views.remove(call.caller, pathId(call), call.origin);
      return { status: 204 };
    }),
  ];
}
