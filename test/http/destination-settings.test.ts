import { expect } from "chai";
import { destinations } from "../../src/features/destinations/facts.ts";
import { tenants } from "../../src/features/tenants/facts.ts";
import { type Account } from "../support/accounts.ts";
import type { TestApi } from "../support/api.ts";
import { describeOnEngines } from "../support/api-engines.ts";
import { apiStage } from "../support/api-stage.ts";
import { shaped } from "../support/http.ts";

const nowhere = "00000000-0000-7000-8000-000000000000";
const url = "https://receiver.example/hook?x=1";
const path = (id: unknown, rest = "") => `/api/v1/destinations/${String(id)}${rest}`;
const credentials = { BearerToken: { token: "canary-token" } };

describeOnEngines("settings of destinations", (freshEngines) => {
  let api: TestApi;
  let one: Account;
  apiStage(freshEngines, (stage) => ({ api, one } = stage));

  const register = (fields: object = {}, by = one.developer.client) =>
    by.post("/api/v1/destinations", { url, ...fields });
  const registered = async (fields: object = {}) => (await register(fields)).json["id"] as string;

  describe("name, description, owner and metadata", () => {
    const none = { name: null, description: null, ownerId: null, metadata: {} };
    const metadata = { team: "billing", "a.$b": "" };
    const about = { name: "Billing", description: "Invoices.\nAsk Ada.", ownerId: "customer 42", metadata };

    it("are unset at first, set, listed, kept in earlier moments, and unset by null", async () => {
      const { id, ...plain } = (await register()).json;
      expect(plain).to.deep.include(none);
      const answer = await register({ ...about, name: " Billing " });
      expect(shaped(answer, "created-destination")).to.deep.include(about);
      for (const [change, expected] of [
        [{ name: "Invoices" }, { ...none, name: "Invoices" }], [about, about], [{}, about],
        [{ metadata: { only: "this" } }, { ...about, metadata: { only: "this" } }],
        [{ name: null, description: null, ownerId: null, metadata: null }, none], [about, about],
        [{ metadata: {} }, { ...about, metadata: {} }],
      ] as const) {
        const changed = await one.developer.client.patch(path(id), change);
        expect(shaped(changed, "destination"), JSON.stringify(change)).to.deep.include(expected);
        expect((await one.viewer.client.get(path(id))).json).to.deep.equal(changed.json);
        const list = await one.viewer.client.get("/api/v1/destinations?Qt=100");
        const listed = list.json["items"] as { readonly id: string }[];
        expect(listed.find((item) => item.id === id)).to.deep.equal(changed.json);
      }
      const { json } = await one.viewer.client.get(path(id, "/history"));
      const items = json["items"] as { type: string; position: string; changes?: unknown }[];
      expect(items.map(({ type }) => type)).to.deep.equal([
        "DestinationRegistered", ...Array.from({ length: 6 }, () => "DestinationDescribed"),
      ]);
      expect(items[1]?.changes).to.deep.equal([{ field: "name", from: null, to: "Invoices" }]);
      const then = await one.viewer.client.get(path(id, `?AsOf=${items[1]?.position}`));
      expect(then.json).to.deep.include({ ...none, name: "Invoices" });
    });

    it("take the longest values", async () => {
      const most = {
        name: "\u{1f9fe}".repeat(255), description: "d".repeat(1_024), ownerId: "o".repeat(255),
        metadata: Object.fromEntries(Array.from({ length: 20 }, (_none, at) => [
          String(at).padEnd(64, "n"), "v".repeat(512)])),
      };
      expect(shaped(await register(most), "created-destination")).to.deep.include(most);
    });

    const bad: [object, string][] = [
      [{ name: "" }, "name"], [{ name: " " }, "name"], [{ name: "n".repeat(256) }, "name"], [{ name: 1 }, "name"],
      [{ name: "a\nb" }, "name"], [{ name: "\ud800" }, "name"],
      [{ description: "d".repeat(1_025) }, "description"], [{ description: "\u0000" }, "description"],
      [{ ownerId: "" }, "ownerId"], [{ ownerId: "o".repeat(256) }, "ownerId"], [{ ownerId: "\t" }, "ownerId"],
      [{ metadata: [] }, "metadata"], [{ metadata: "x" }, "metadata"], [{ metadata: { a: 1 } }, "metadata.a"],
      [{ metadata: { a: null } }, "metadata.a"], [{ metadata: { a: "v".repeat(513) } }, "metadata.a"],
      [{ metadata: { ["n".repeat(65)]: "" } }, "metadata"], [{ metadata: { "": "" } }, "metadata"],
      [{ metadata: Object.fromEntries(Array.from({ length: 21 }, (_none, at) => [at, ""])) }, "metadata"],
    ];
    for (const [fields, field] of bad) {
      it(`give 400 naming ${field} for ${JSON.stringify(fields).slice(0, 60)}`, async () => {
        for (const answer of [await register(fields), await one.owner.client.patch(path(nowhere), fields)]) {
          expect([answer.status, answer.text.split(":")[0]], answer.text).to.deep.equal([400, field]);
        }
      });
    }
  });

  describe("headers", () => {
    const headers = { "X-Their-Header": "canary-one", "x-Other": "canary two" };
    const shown = { "X-Their-Header": "***", "x-Other": "***" };
    const opened = async (id: unknown) => {
      const { state } = await api.world.aggregates.current(destinations, String(id));
      const { state: tenant } = await api.world.aggregates.current(tenants, one.tenantId);
      if (!state || !tenant) throw new Error("not in the log");
      expect(JSON.stringify(state)).not.to.include("canary");
      return api.world.vault.headers(state, tenant);
    };

    it("are sealed, never shown, replaced all at once, and kept by ***", async () => {
      const { id, ...plain } = (await register()).json;
      expect(plain).to.deep.include({ headers: {} });
      const answer = shaped(await register({ headers }), "created-destination");
      expect(answer).to.deep.include({ headers: shown });
      expect(await opened(answer["id"])).to.deep.equal(headers);
      for (const [change, names, values] of [
        [{ headers }, shown, headers], [{ serverRateLimit: 2 }, shown, headers],
        [{ headers: { "x-their-header": "***" } }, { "x-their-header": "***" }, { "x-their-header": "canary-one" }],
        [{ headers: { "X-New": "n" } }, { "X-New": "***" }, { "X-New": "n" }],
        [{ headers: {} }, {}, {}], [{ headers }, shown, headers], [{ headers: null }, {}, {}],
      ] as const) {
        const changed = shaped(await one.developer.client.patch(path(id), change), "destination");
        expect(changed["headers"]).to.deep.equal(names);
        expect(await opened(id)).to.deep.equal(values);
        const list = (await one.viewer.client.get("/api/v1/destinations?Qt=100")).json["items"] as { id: string }[];
        expect(list.find((item) => item.id === id)).to.deep.equal(changed);
      }
      const { text, json } = await one.viewer.client.get(path(id, "/history"));
      expect(text).not.to.include("canary");
      const items = json["items"] as { data: object; changes?: unknown; position: string }[];
      expect(items[1]).to.deep.include({ changes: [{ field: "headers", from: null, to: shown }] });
      expect(items[1]?.data).to.deep.include({ headers: shown });
      const then = await one.viewer.client.get(path(id, `?AsOf=${items[1]?.position}`));
      expect(then.json).to.deep.include({ headers: shown });
    });

    it("are never those that the credentials use, in any case and whichever changes", async () => {
      const apiKey = { authType: "ApiKey", credentials: { headerName: "X-Key", value: "v" } };
      const bearer = { authType: "BearerToken", credentials: credentials.BearerToken };
      for (const [auth, name] of [[apiKey, "x-key"], [bearer, "AUTHORIZATION"]] as const) {
        const own = { headers: { [name]: "v" } };
        const both = await register({ ...auth, ...own });
        expect([both.status, both.text.split(":")[0]]).to.deep.equal([400, `headers.${name}`]);
        const [keyed, headed] = [await registered(auth), await registered(own)];
        const first = await one.owner.client.patch(path(keyed), own);
        expect([first.status, first.text.split(":")[0]]).to.deep.equal([400, `headers.${name}`]);
        const second = await one.owner.client.patch(path(headed), auth);
        expect([second.status, second.text.split(":")[0]]).to.deep.equal([400, "credentials"]);
        expect((await one.owner.client.patch(path(keyed), { ...own, removeAuth: true })).status).to.equal(200);
        expect((await one.owner.client.patch(path(headed), { ...auth, headers: null })).status).to.equal(200);
      }
    });

    it("take the most and longest values", async () => {
      const most = Object.fromEntries(Array.from({ length: 20 }, (_none, at) => [
        `X-${at}`.padEnd(128, "n"), "v".repeat(1_024)]));
      expect(await opened((await register({ headers: most })).json["id"])).to.deep.equal(most);
    });

    const many = Object.fromEntries(Array.from({ length: 21 }, (_none, at) => [`X-${at}`, "v"]));
    const bad: [unknown, string][] = [
      [[], "headers"], ["X", "headers"], [{ "X-A": 1 }, "headers.X-A"], [{ "X-A": null }, "headers.X-A"],
      [{ "X-A": "" }, "headers.X-A"], [{ "X-A": "v".repeat(1_025) }, "headers.X-A"], [{ "X-A": "a\nb" }, "headers.X-A"],
      [{ "X-A": "ü" }, "headers.X-A"], [{ "X-A": " a" }, "headers.X-A"], [{ "X A": "v" }, "headers.\"X A\""],
      [{ "": "v" }, "headers.\"\""], [{ Host: "v" }, "headers.Host"], [{ "content-type": "v" }, "headers.content-type"],
      [{ "webhook-ID": "v" }, "headers.webhook-ID"], [{ "X-Relay-Mine": "v" }, "headers.X-Relay-Mine"],
      [{ "X-Service-Signature": "v" }, "headers.X-Service-Signature"], [many, "headers"],
      [{ "X-A": "a", "x-a": "b" }, "headers.x-a"],
    ];
    for (const [given, field] of bad) {
      it(`give 400 naming ${field} for ${JSON.stringify(given).slice(0, 60)}`, async () => {
        for (const answer of [
          await register({ headers: given }), await one.owner.client.patch(path(nowhere), { headers: given }),
        ]) expect([answer.status, answer.text.split(":")[0]], answer.text).to.deep.equal([400, field]);
      });
    }

    it("give 400 for *** where there is no stored value", async () => {
      for (const answer of [
        await register({ headers: { "X-A": "***" } }),
        await one.owner.client.patch(path(await registered({ headers })), { headers: { "X-A": "***" } }),
      ]) expect([answer.status, answer.text.split(":")[0]], answer.text).to.deep.equal([400, "headers.X-A"]);
    });
  });
});
