import { expect } from "chai";
import { createService, createUser, login, type Account, type Client } from "../support/accounts.ts";
import type { TestApi } from "../support/api.ts";
import { describeOnEngines } from "../support/api-engines.ts";
import { twoTenantStage } from "../support/api-stage.ts";
import { shaped } from "../support/http.ts";

const path = "/api/v1/views";
const filters = { name: "Given up", page: "events", query: "Status=CriticalFailure&From=2026-01-31" };

describeOnEngines("views", (freshEngines) => {
  let api: TestApi;
  let one: Account;
  let other: Account;
  twoTenantStage(freshEngines, (stage) => ({ api, one, other } = stage));

  const saved = async (by: Client, fields: object = {}) => {
    const answer = await by.post(path, { ...filters, ...fields });
    expect(answer.status, answer.text).to.equal(201);
    return shaped(answer, "view");
  };
  const seenBy = async (by: Client) => {
    const { items, total } = shaped(await by.get(`${path}?Qt=100`), "view-page") as
      { readonly items: readonly { readonly id: string }[]; readonly total: number };
    expect(items).to.have.length(total);
    return items.map(({ id }) => id);
  };

  it("are saved by any role, and seen by their owner alone until they are shared", async () => {
    for (const { client, id: ownerUserId } of [one.owner, one.admin, one.developer, one.viewer]) {
      const view = await saved(client, { name: "  Given up " });
      expect(view).to.deep.include({ ...filters, shared: false, ownerUserId });
      expect(await seenBy(client)).to.include(view["id"]);
      for (const { client: another } of [one.owner, one.admin, one.developer, one.viewer, other.owner]) {
        if (another !== client) expect(await seenBy(another)).not.to.include(view["id"]);
      }
    }
    const shared = await saved(one.developer.client, { shared: true });
    for (const { client } of [one.owner, one.viewer]) expect(await seenBy(client)).to.include(shared["id"]);
    expect(await seenBy(other.owner.client)).not.to.include(shared["id"]);
  });

  it("are changed, shared, taken back and deleted by their owner only", async () => {
    const { id, ...view } = await saved(one.developer.client);
    const own = `${path}/${String(id)}`;
    const changed = await one.developer.client.patch(own, { name: "Waiting", query: "", page: "audit", shared: true });
    expect(shaped(changed, "view"))
      .to.deep.equal({ ...view, id, name: "Waiting", query: "", page: "audit", shared: true });
    expect(await seenBy(one.viewer.client)).to.include(id);
    for (const { client } of [one.owner, other.owner]) {
      expect((await client.patch(own, { name: "Mine" })).status).to.equal(403);
      expect((await client.delete(own)).status).to.equal(403);
    }
    const takenBack = await one.developer.client.patch(own, { shared: false });
    expect(takenBack.json).to.include({ shared: false, name: "Waiting" });
    expect(await seenBy(one.viewer.client)).not.to.include(id);
    expect(await seenBy(one.developer.client)).to.include(id);
    expect((await one.developer.client.delete(own)).status).to.equal(204);
    expect(await seenBy(one.developer.client)).not.to.include(id);
    for (const gone of [one.developer.client.delete(own), one.developer.client.patch(own, {})]) {
      expect((await gone).status).to.equal(404);
    }
  });

  it("are shared with the tenant by a Developer or above only", async () => {
    expect((await one.viewer.client.post(path, { ...filters, shared: true })).status).to.equal(403);
    const { id } = await saved(one.viewer.client);
    const own = `${path}/${String(id)}`;
    const refused = await one.viewer.client.patch(own, { shared: true });
    expect([refused.status, refused.text]).to.deep.equal(
      [403, "only Developer or above may share views with the tenant"]);
    const demoted = await createUser(one.owner.client, "developer");
    const shared = await saved(demoted.client, { shared: true });
    await one.owner.client.patch(`/api/v1/users/${demoted.id}`, { role: 20 });
    const viewer = await login(api.url, demoted.email);
    expect((await viewer.patch(`${path}/${String(shared["id"])}`, { name: "Other" })).status).to.equal(403);
    expect((await viewer.patch(`${path}/${String(shared["id"])}`, { shared: false })).status).to.equal(200);
  });

  it("are of people: no service account has any", async () => {
    const { client } = await createService(one.owner.client, "admin");
    for (const answer of [client.get(path), client.post(path, filters)]) expect((await answer).status).to.equal(403);
  });

  const bad: [object, string][] = [
    [{ name: "" }, "name"], [{ name: " " }, "name"], [{ name: undefined }, "name"], [{ name: "x".repeat(256) }, "name"],
    [{ page: "" }, "page"], [{ page: "Events" }, "page"], [{ page: "../x" }, "page"], [{ page: undefined }, "page"],
    [{ query: undefined }, "query"], [{ query: "x".repeat(2_049) }, "query"], [{ query: "a\nb" }, "query"],
    [{ shared: "yes" }, "shared"], [{ shared: null }, "shared"],
  ];
  for (const [fields, field] of bad) {
    it(`give 400 naming ${field} for ${JSON.stringify(fields).slice(0, 60)}`, async () => {
      const { status, text } = await one.viewer.client.post(path, { ...filters, ...fields });
      expect([status, text.split(":")[0]], text).to.deep.equal([400, field]);
    });
  }

  it("are a hundred for a person at most, each with a query of 2,048 characters at most", async () => {
    const { client } = await createUser(one.owner.client, "viewer");
    const { id } = await saved(client, { query: "x".repeat(2_048) });
    for (let count = 1; count < 100; count += 1) await saved(client);
    expect((await client.post(path, filters)).status).to.equal(422);
    await client.delete(`${path}/${String(id)}`);
    await saved(client);
  });

  it("are deleted with their owner, shared ones too", async () => {
    const leaving = await createUser(one.owner.client, "developer");
    const shared = await saved(leaving.client, { shared: true });
    await saved(leaving.client);
    expect(await seenBy(one.owner.client)).to.include(shared["id"]);
    await one.owner.client.delete(`/api/v1/users/${leaving.id}`);
    expect(await seenBy(one.owner.client)).not.to.include(shared["id"]);
    const audit = await one.owner.client.get(`/api/v1/audit?SubjectId=${String(shared["id"])}`);
    const { items } = audit.json as { items: { type: string }[] };
    expect(items.map(({ type }) => type)).to.deep.equal(["ViewDeleted", "ViewSaved"]);
  });

  it("show who changed them in the audit, without their names and filters", async () => {
    const { id } = await saved(one.developer.client, { name: "Secret plan", query: "OwnerId=someone" });
    await one.developer.client.patch(`${path}/${String(id)}`, { name: "Open plan", shared: true });
    const audit = await one.viewer.client.get(`/api/v1/audit?SubjectId=${String(id)}`);
    const { items } = audit.json as { items: { type: string; actor: object; changes?: object[] }[] };
    expect(items.map(({ type }) => type)).to.deep.equal(["ViewChanged", "ViewSaved"]);
    expect(items[0]?.actor).to.include({ type: "user", id: one.developer.id });
    expect(items[0]?.changes).to.deep.equal([{ field: "shared", from: false, to: true }]);
    expect(audit.text).not.to.include("plan").and.not.to.include("OwnerId");
  });
});
