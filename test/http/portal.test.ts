import { expect } from "chai";
import { logStart } from "../../src/kernel/ports/event-store.ts";
import { createService, openAccount, openIngest, type Account } from "../support/accounts.ts";
import { startApi, type TestApi } from "../support/api.ts";
import { embeddedEngines, type SharedEngines } from "../support/api-engines.ts";
import { http, shaped, type HttpAnswer } from "../support/http.ts";
import { codeOf, openPortal, Visitor } from "../support/portal.ts";

describe("the portal", () => {
  let engines: SharedEngines;
  let api: TestApi;
  let one: Account;
  before(async () => {
    engines = await embeddedEngines();
    api = await startApi(engines);
    one = await openAccount(api.url);
  });
  after(async () => {
    await api.close();
    await engines.close();
  });
  afterEach(() => expect(api.errors).to.deep.equal([]));

  const create = (json: object) => one.admin.client.post("/api/v1/portal-links", json);
  const trade = (code: string, more: object = {}, headers: Record<string, string> = {}): Promise<HttpAnswer> =>
    http("POST", `${api.url}/api/v1/portal/session`, { json: { code, ...more }, headers });
  const freshCode = async (more: object = {}) =>
    codeOf(await one.admin.client.api.createPortalLink({ ownerId: "customer", may: ["read"], ...more }));

  describe("links", () => {
    it("lead to the relay's public address, whatever Host asked, and tell how long they are good", async () => {
      const created = shaped(await one.admin.client.call("POST", "/api/v1/portal-links", {
        json: { ownerId: "customer", may: ["read"] }, headers: { host: "evil.example" },
      }), "created-portal-link");
      const { id, url, expiresAt } = created as Record<"id" | "url" | "expiresAt", string>;
      expect(url).to.match(new RegExp(`^${api.url}/portal#code=prt_[\\w-]{75}$`));
      expect(Date.parse(expiresAt) - engines.clock.now()).to.be.within(55_000, 60_000);
      const { items } = await one.admin.client.api.listPortalLinks({ CpOrd: "createdAt", TpOrd: "Desc" });
      expect(items[0]).to.deep.include({
        id, tenantId: one.tenantId, ownerId: "customer", destinationUrlIds: null, may: ["read"], label: null,
        sessionSeconds: 3_600, returnUrl: null, session: null,
      });
    });

    for (const [field, json] of [
      ["ownerId", { may: ["read"] }],
      ["destinationUrlIds", { ownerId: "customer", destinationUrlIds: ["x"], may: ["read"] }],
      ["destinationUrlIds", { destinationUrlIds: [], may: ["read"] }],
      ["may", { ownerId: "customer" }],
      ["may", { ownerId: "customer", may: [] }],
      ["may", { ownerId: "customer", may: ["delete"] }],
      ["sessionSeconds", { ownerId: "customer", may: ["read"], sessionSeconds: 299 }],
      ["sessionSeconds", { ownerId: "customer", may: ["read"], sessionSeconds: 86_401 }],
      ["returnUrl", { ownerId: "customer", may: ["read"], returnUrl: "javascript:alert(1)" }],
      ["returnUrl", { ownerId: "customer", may: ["read"], returnUrl: "http://shop.example" }],
      ["label", { ownerId: "customer", may: ["read"], label: " " }],
      ["ownerId", { ownerId: "", may: ["read"] }],
    ] as const) {
      it(`are refused by the name of the field: ${JSON.stringify(json)}`, async () => {
        const answer = await create(json);
        expect(answer.status).to.equal(400);
        expect(answer.text).to.match(new RegExp(`^${field}[:.]`));
      });
    }

    it("name destinations of the tenant only", async () => {
      const other = await openAccount(api.url);
      const { destinationId } = await openIngest(other.owner.client, other.tenantId);
      const nowhere = "0193a1b2-0000-7000-8000-00000000ffff";
      expect((await create({ destinationUrlIds: [destinationId], may: ["read"] })).status).to.equal(403);
      expect((await create({ destinationUrlIds: [nowhere], may: ["read"] })).status).to.equal(404);
    });

    it("are made by machines with the scope portal:write", async () => {
      const machine = await createService(one.owner.client, "developer", ["portal:write"]);
      await machine.client.api.createPortalLink({ ownerId: "customer", may: ["read"] });
      const reader = await createService(one.owner.client, "admin", ["events:write"]);
      const refused = await reader.client.post("/api/v1/portal-links", { ownerId: "customer", may: ["read"] });
      expect([refused.status, refused.text]).to.deep.equal([403, "the service key lacks the scope portal:write"]);
    });

    it("that are over are not listed", async () => {
      const code = await freshCode({ label: "soon over" });
      const labels = async () =>
        (await one.admin.client.api.listPortalLinks({ Qt: 100 })).items.map(({ label }) => label);
      expect(await labels()).to.include("soon over");
      engines.clock.advance(60_001);
      expect((await trade(code)).status).to.equal(401);
      expect(await labels()).not.to.include("soon over");
    });
  });

  describe("codes", () => {
    it("are good once, also of two uses at one time", async () => {
      const code = await freshCode();
      const both = await Promise.all([trade(code), trade(code)]);
      expect(both.map(({ status }) => status).sort()).to.deep.equal([204, 401]);
      const again = await trade(code);
      expect(again.status).to.equal(401);
      expect(again.text).to.match(/^code: /);
      expect(again.headers.getSetCookie()).to.deep.equal([]);
    });

    it("are good for 60 seconds", async () => {
      const [first, second] = [await freshCode(), await freshCode()];
      engines.clock.advance(50_000);
      expect((await trade(first)).status).to.equal(204);
      engines.clock.advance(10_000);
      expect((await trade(second)).status).to.equal(401);
    });

    it("of deleted links, of no link, and codes that are none are refused", async () => {
      const link = await one.admin.client.api.createPortalLink({ ownerId: "customer", may: ["read"] });
      await one.admin.client.api.deletePortalLink({ id: link.id });
      const code = codeOf(link);
      for (const bad of [code, "", "prt_", code.replace("prt_", "prs_"), `${code}a`, code.replace(/.$/, ""), "prt_x"]) {
        expect((await trade(bad)).status, bad).to.equal(401);
      }
      expect((await http("POST", `${api.url}/api/v1/portal/session`, { json: {} })).text).to.equal("code: is required");
    });
  });

  describe("cookies", () => {
    const cookiesOf = async (more: object, headers: Record<string, string> = {}) =>
      (await trade(await freshCode({ sessionSeconds: 300 }), more, headers)).headers.getSetCookie()
        .map((cookie) => cookie.replace(/=prs_[\w-]{75};/, "=TOKEN;"));

    it("are strict, for the host alone", async () => {
      expect(await cookiesOf({})).to.deep.equal([
        "__Host-relay-portal=TOKEN; Max-Age=300; Path=/; HttpOnly; Secure; SameSite=Strict",
        "relay-portal-local=; Max-Age=0; Path=/; HttpOnly; SameSite=Strict",
      ]);
    });

    it("in a frame of another site are kept for that site alone", async () => {
      const expected = ["__Host-relay-portal=TOKEN; Max-Age=300; Path=/; HttpOnly; Secure; SameSite=None; Partitioned"];
      expect(await cookiesOf({ embedded: true })).to.deep.equal(expected);
      expect(await cookiesOf({ embedded: true }, { origin: "http://localhost:8080" })).to.deep.equal(expected);
    });

    it("at localhost without TLS are not secure, for Safari's sake; elsewhere without TLS there is none", async () => {
      const [cookie] = await cookiesOf({}, { origin: "http://localhost:8080" });
      expect(cookie).to.equal("relay-portal-local=TOKEN; Max-Age=300; Path=/; HttpOnly; SameSite=Strict");
      const refused = await trade(await freshCode(), {}, { origin: "http://relay.example" });
      expect([refused.status, refused.text.split(":")[0]]).to.deep.equal([400, "Origin"]);
    });
  });

  describe("sessions", () => {
    it("say who one is, what one may do, and until when", async () => {
      const { visitor, id } = await openPortal(one, {
        ownerId: "customer", may: ["read", "test"], label: " Customer ", returnUrl: "https://shop.example/back",
        sessionSeconds: 600,
      });
      const session = shaped(await visitor.get("/api/v1/portal/session"), "portal-session");
      expect(session).to.deep.include({
        id, ownerId: "customer", may: ["read", "test"], label: "Customer", returnUrl: "https://shop.example/back",
        embedded: false, brand: { name: null, color: null, logo: false },
      });
      expect(Date.parse(String(session["expiresAt"])) - engines.clock.now()).to.be.within(590_000, 600_000);
      expect(session["operations"]).to.include.members(["listEvents", "getEvent", "testDestination"]);
      for (const none of ["replayEvent", "listUsers", "createDestination", "cancelEvent", "getMe"]) {
        expect(session["operations"]).not.to.include(none);
      }
      const { items } = await one.admin.client.api.listPortalLinks({ Qt: 100 });
      const endsAt = String(session["expiresAt"]);
      expect(items.find((link) => link.id === id)?.session).to.deep.equal({
        begunAt: new Date(Date.parse(endsAt) - 600_000).toISOString(), endsAt, embedded: false,
      });
    });

    it("end when their time is over, at sign-out, and with their link", async () => {
      const over = async (visitor: Visitor) => (await visitor.get("/api/v1/portal/session")).status;
      const timed = await openPortal(one, { ownerId: "customer", may: ["read"], sessionSeconds: 300 });
      engines.clock.advance(290_000);
      expect(await over(timed.visitor)).to.equal(200);
      engines.clock.advance(10_000);
      expect(await over(timed.visitor)).to.equal(401);
      const left = await openPortal(one, { ownerId: "customer", may: ["read"] });
      const answer = await left.visitor.call("DELETE", "/api/v1/portal/session");
      expect(answer.status).to.equal(204);
      expect(answer.headers.getSetCookie().every((cookie) => cookie.includes("=; Max-Age=0;"))).to.equal(true);
      expect(await over(left.visitor)).to.equal(401);
      const deleted = await openPortal(one, { ownerId: "customer", may: ["read"] });
      expect((await one.admin.client.delete(`/api/v1/portal-links/${deleted.id}`)).status).to.equal(204);
      expect(await over(deleted.visitor)).to.equal(401);
      expect((await one.admin.client.delete(`/api/v1/portal-links/${deleted.id}`)).status).to.equal(404);
    });

    it("count for the relay's own pages only", async () => {
      const { visitor } = await openPortal(one, { ownerId: "customer", may: ["read"] });
      for (const site of [{}, { "sec-fetch-site": "cross-site" }, { "sec-fetch-site": "same-site" }]) {
        const answer = await http("GET", `${api.url}/api/v1/events`, { headers: { cookie: visitor.cookie, ...site } });
        expect(answer.status, JSON.stringify(site)).to.equal(403);
      }
    });

    it("do not take the place of a person's session in the same browser, unless the portal's page asks", async () => {
      const { visitor } = await openPortal(one, { ownerId: "customer", may: ["read"] });
      const signedIn = await http("POST", `${api.url}/api/v1/auth/session`, {
        json: { email: one.owner.email, password: "correct horse battery" },
      });
      const [person = ""] = (signedIn.headers.getSetCookie()[0] ?? "").split(";");
      const both = { cookie: `${person}; ${visitor.cookie}`, "sec-fetch-site": "same-origin" };
      const ask = async (path: string, more: object = {}) =>
        (await http("GET", `${api.url}/api/v1/${path}`, { headers: { ...both, ...more } })).status;
      expect(await ask("users")).to.equal(200);
      expect(await ask("users", { "x-relay-portal": "true" })).to.equal(404);
      expect(await ask("portal/session", { "x-relay-portal": "true" })).to.equal(200);
      expect(await ask("portal/session")).to.equal(401);
      const alone = { cookie: person, "sec-fetch-site": "same-origin", "x-relay-portal": "true" };
      expect((await http("GET", `${api.url}/api/v1/events`, { headers: alone })).status).to.equal(401);
    });
  });

  it("its secrets stand neither in the log nor in read models, histories or log lines", async () => {
    const link = await one.admin.client.api.createPortalLink({ ownerId: "customer", may: ["read"] });
    const answer = await trade(codeOf(link));
    const [, cookie = ""] = /=(prs_[^;]+)/.exec(answer.headers.getSetCookie()[0] ?? "") ?? expect.fail("no cookie");
    await trade(codeOf(link));
    const { entries } = await engines.store.readLog(logStart, 10_000);
    const stored = [JSON.stringify(entries)];
    stored.push(JSON.stringify(api.lines));
    const audit = await one.owner.client.api.listAudit({ SubjectId: link.id, TpOrd: "Asc" });
    stored.push(JSON.stringify(audit));
    stored.push(JSON.stringify(await one.admin.client.api.listPortalLinks({ Qt: 100 })));
    for (const text of stored) {
      for (const secret of [codeOf(link), cookie]) expect(text.includes(secret.slice(-43))).to.equal(false);
    }
    expect(stored[0]).to.include("PortalSessionBegun");
    expect(audit.items.map(({ type, actor }) => [type, actor.type])).to.deep.equal([
      ["PortalLinkCreated", "user"], ["PortalSessionBegun", "portalLink"],
    ]);
    expect(JSON.stringify(audit)).not.to.include("Hash");
  });
});
