import { decide } from "../../../../src/features/views/decide.ts";
import { evolve, type ViewEvent, type ViewState } from "../../../../src/features/views/facts.ts";
import { specificationsOf } from "../../../support/given.ts";

const given = specificationsOf({ initial: (): ViewState => undefined, evolve, decide });

const at = "2026-01-15T09:30:00.000Z";
const id = "0193a1b2-c3d4-7000-8000-000000000014";
const tenantId = "0193a1b2-c3d4-7000-8000-000000000001";
const ownerUserId = "0193a1b2-c3d4-7000-8000-000000000002";
const settings = { name: "Given up", page: "events", query: "Status=CriticalFailure", shared: false };
const ids = { viewId: id, tenantId, ownerUserId, at };
const saved = (shared = false): ViewEvent => ({ type: "ViewSaved", data: { ...ids, ...settings, shared } });
const changed = (fields: object): ViewEvent => ({ type: "ViewChanged", data: { ...ids, ...settings, ...fields } });
const deleted: ViewEvent = { type: "ViewDeleted", data: ids };
const [viewer, developer] = (["Viewer", "Developer"] as const).map((role) => ({ by: { role }, at }));

describe("a view", () => {
  it("is saved once, and shared by a Developer or above", () => {
    const save = (shared: boolean) =>
      ({ type: "SaveView", view: { id, tenantId, ownerUserId, ...settings, shared } }) as const;
    given([]).when({ ...save(false), ...viewer! }).gives(saved());
    given([]).when({ ...save(true), ...developer! }).gives(saved(true));
    given([]).when({ ...save(true), ...viewer! }).refused("forbidden", "Developer");
    given([saved()]).when({ ...save(false), ...viewer! }).refused("conflict", "view");
  });

  it("changes named settings, and none with the same values", () => {
    const change = { type: "ChangeView", ...viewer! } as const;
    given([saved()]).when({ ...change, query: "" }).gives(changed({ query: "" }));
    given([saved()]).when({ ...change, name: "Given up" }).gives();
    given([saved()]).when({ ...change, shared: true }).refused("forbidden", "Developer");
    given([saved(true)]).when({ ...change, name: "Other" }).refused("forbidden", "Developer");
    given([saved(true)]).when({ ...change, shared: false }).gives(changed({ shared: false }));
    given([saved()]).when({ ...change, ...developer!, shared: true }).gives(changed({ shared: true }));
  });

  it("is deleted once", () => {
    given([saved()]).when({ type: "DeleteView", at }).gives(deleted);
    given([saved(), deleted]).when({ type: "DeleteView", at }).refused("not-found", "view");
    given([saved(), deleted]).when({ type: "ChangeView", ...viewer!, name: "x" }).refused("not-found", "view");
  });
});
