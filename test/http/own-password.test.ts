import { expect } from "chai";
import { createTenant, createUser, login, password, signIn, type Client, type Person } from "../support/accounts.ts";
import { startApi, type TestApi } from "../support/api.ts";
import { inMemoryEngines, type InMemoryEngines } from "../support/api-engines.ts";
import { http } from "../support/http.ts";

const place = "/api/v1/auth/password";
const newPassword = "another good password";
const failedLoginMs = 300;

describe("one's own password", () => {
  let engines: InMemoryEngines;
  let here: TestApi;
  let there: TestApi;
  let viewer: Person;
  beforeEach(async () => {
    engines = await inMemoryEngines();
    const limits = { loginFailures: { max: 3, windowMs: 60_000 }, tenantCreation: null, inviteRegistration: null };
    const start = () => startApi(engines, { limits, failedLoginMs });
    [here, there] = [await start(), await start()];
    const { owner } = await createTenant(here.url);
    viewer = await createUser(owner.client, "viewer");
  });
  afterEach(async () => {
    expect([...here.errors, ...there.errors]).to.deep.equal([]);
    await Promise.all([here.close(), there.close()]);
    await engines.close();
  });

  const change = (currentPassword: string, by: Client = viewer.client) =>
    by.post(place, { currentPassword, newPassword });
  const status = async (client: Client) => (await client.get("/api/v1/me")).status;

  it("is changed by the current one, which ends the person's other sessions and tokens in every process", async () => {
    const token = await login(here.url, viewer.email);
    const browser = await signIn(here.url, viewer.email);
    expect((await change(password)).status).to.equal(204);
    for (const { url } of [here, there]) {
      expect(await status(viewer.client.at(url)), "the session that changed it").to.equal(200);
      expect(await status(token.at(url))).to.equal(401);
      expect((await http("GET", `${url}/api/v1/me`, { headers: browser })).status).to.equal(401);
    }
    const { email } = viewer;
    const enter = async (secret: string) =>
      (await http("POST", `${there.url}/api/v1/auth/login`, { json: { email, password: secret } })).status;
    expect([await enter(password), await enter(newPassword)]).to.deep.equal([401, 200]);
  });

  it("leaves the session that changed it no longer than any later change", async () => {
    expect((await change(password)).status).to.equal(204);
    const other = await login(here.url, viewer.email, newPassword);
    expect((await other.post(place, { currentPassword: newPassword, newPassword: password })).status).to.equal(204);
    expect([await status(viewer.client), await status(other)]).to.deep.equal([401, 200]);
  });

  it("keeps the browser's session, which can be renewed", async () => {
    const browser = await signIn(here.url, viewer.email);
    const json = { currentPassword: password, newPassword };
    const changed = await http("POST", here.url + place, { json, headers: browser });
    expect([changed.status, changed.text]).to.deep.equal([204, ""]);
    const renewed = await http("POST", `${there.url}/api/v1/auth/session/renewal`, { headers: browser });
    expect(renewed.status, renewed.text).to.equal(200);
    const [cookie = ""] = (renewed.headers.getSetCookie()[0] ?? "").split(";");
    expect((await http("GET", `${here.url}/api/v1/me`, { headers: { ...browser, cookie } })).status).to.equal(200);
    expect(await status(viewer.client)).to.equal(401);
  });

  it("stays where the current one is wrong, which takes as long and counts as a failed login does", async () => {
    for (let n = 0; n < 3; n += 1) {
      const begun = performance.now();
      const refused = await change("wrong password");
      expect([refused.status, refused.text]).to.deep.equal([400, "currentPassword: is wrong"]);
      expect(performance.now() - begun).to.be.at.least(failedLoginMs - 1);
    }
    expect((await change(password)).status).to.equal(429);
    const json = { email: viewer.email, password };
    expect((await http("POST", `${here.url}/api/v1/auth/login`, { json })).status).to.equal(429);
    expect(await status(viewer.client)).to.equal(200);
  });

  it("stays where the new one is none, or somebody else changed it meanwhile", async () => {
    const weak = await viewer.client.post(place, { currentPassword: password, newPassword: "short" });
    expect([weak.status, weak.text.startsWith("newPassword: ")]).to.deep.equal([400, true]);
    const both = await Promise.all([change(password), change(password, await login(there.url, viewer.email))]);
    expect(both.filter((answer) => answer.status === 204)).to.have.length(1);
  });
});
