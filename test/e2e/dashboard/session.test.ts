import { expect } from "chai";
import { dashboardStage, signIn, type Visit } from "../../support/dashboard.ts";
import { proxyOrSkip, type Proxy } from "../../support/proxies.ts";
import { openAccount, type Account } from "../../support/relay.ts";

/** Clicks a link of the menu, unless the page notices the session's end by itself before that. */
async function followedUnlessSignedOut(page: Visit["page"], name: string): Promise<void> {
  await page.getByRole("link", { name, exact: true }).click({ timeout: 5_000 }).catch(() => undefined);
}

describe("the dashboard's sign-in", () => {
  const stage = dashboardStage({ env: { RELAY_TRUSTED_PROXIES: "1" } });
  let account: Account;
  let seen: Visit | undefined;
  before(async () => {
    account = await openAccount(stage.relay.url);
  });

  const signsInAndOut = (origin: () => string) => async () => {
    const at = origin();
    seen = await stage.visit(at);
    const { page } = seen;
    await seen.go("/events?Status=Pending");
    await page.waitForURL(`${at}/app/login?**`);
    await signIn(seen, account);
    expect(page.url()).to.equal(`${at}/app/events?Status=Pending`);
    await page.reload();
    await page.getByRole("heading", { name: "Events" }).waitFor();
    await page.getByRole("button", { name: "Account and preferences" }).click();
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.waitForURL(`${at}/app/login`);
    await seen.go("/");
    await page.waitForURL(`${at}/app/login?**`);
  };

  it("comes back to the page that was asked for, and ends with the sign-out", signsInAndOut(() => stage.origin));

  it("is shown to a browser at the relay's own address", async () => {
    seen = await stage.visit();
    await seen.page.goto(`${stage.origin}/`);
    await seen.page.getByRole("heading", { name: "Sign in" }).waitFor();
  });

  it("says a wrong password at the form, and lets the person try again", async () => {
    seen = await stage.visit();
    const { page } = seen;
    await seen.go("/");
    await page.getByLabel("Email").fill(account.email);
    await page.getByLabel("Password").fill("not this one");
    await page.getByRole("button", { name: "Sign in" }).click();
    expect(await page.getByRole("alert").textContent()).to.equal("email or password is wrong");
    await signIn(seen, account);
  });

  it("says on plain HTTP away from localhost that it needs TLS, before it asks for a password", async () => {
    const { port } = new URL(stage.relay.url);
    const served = await fetch(`${stage.relay.url}/app/login`);
    seen = await stage.visit("http://relay.example");
    const { page } = seen;
    await page.route("http://relay.example/**", async (route) => {
      const { pathname } = new URL(route.request().url());
      await route.fulfill({ response: await page.request.fetch(`http://127.0.0.1:${port}${pathname}`) });
    });
    await seen.go("/login");
    await page.getByText("Signing in here needs TLS").waitFor();
    expect(await page.getByText("ssh -L").textContent()).to.include("relay.example");
    expect(await page.getByLabel("Password").count()).to.equal(0);
    expect(served.status).to.equal(200);
  });

  it("asks to sign in again when the session ends in mid-work, and comes back", async () => {
    seen = await stage.visit();
    const { page } = seen;
    await seen.go("/events");
    await signIn(seen, account);
    await stage.browser.context.clearCookies();
    await followedUnlessSignedOut(page, "Events");
    await page.waitForURL(`${stage.origin}/app/login?**`);
    await signIn(seen, account);
    expect(page.url()).to.equal(`${stage.origin}/app/events`);
  });

  for (const path of ["/api", "/api/v1/destinations"]) {
    it(`tells how to remove the cookie that another program at the host has set for ${path}`, async () => {
      const { context } = stage.browser;
      const other = await openAccount(stage.relay.url);
      seen = await stage.visit();
      const { page } = seen;
      await seen.go("/");
      await signIn(seen, other);
      const [{ name = "", value = "" } = {}] = await context.cookies(stage.origin);
      await context.clearCookies();
      await seen.go("/destinations");
      await signIn(seen, account);
      await context.addCookies([{ name, value, domain: "localhost", path }]);
      await followedUnlessSignedOut(page, "Destinations");
      await page.waitForURL(`${stage.origin}/app/login?**`);
      const notice = page.getByRole("alert");
      expect(await notice.textContent()).to.include("Another program at localhost has set a session cookie")
        .and.include(`http://127.0.0.1:${new URL(stage.origin).port}/app/`);
      expect(await page.getByRole("navigation", { name: "Pages" }).count()).to.equal(0);
      await context.clearCookies();
      await signIn(seen, account);
      expect(page.url()).to.equal(`${stage.origin}/app/destinations`);
    });
  }

  it("asks again when the session was renewed while a request was under way", async () => {
    seen = await stage.visit();
    const { page } = seen;
    await seen.go("/");
    await signIn(seen, account);
    let asked = 0;
    await page.route("**/api/v1/destinations?**", async (route) => {
      asked += 1;
      if (asked > 1) await route.continue();
      else await route.fulfill({ status: 401, contentType: "text/plain; charset=utf-8", body: "the session is over" });
    });
    await page.getByRole("link", { name: "Destinations", exact: true }).click();
    await page.getByText("A destination is an address").waitFor();
    expect(page.url()).to.equal(`${stage.origin}/app/destinations`);
    expect(asked).to.be.greaterThan(1);
  });

  it("is renewed before it ends where the browser's clock is an hour slow", async () => {
    seen = await stage.visit();
    const { page } = seen;
    await page.clock.install({ time: Date.now() - 3_600_000 });
    await seen.go("/settings");
    await signIn(seen, account);
    const me = await page.evaluate<object>('fetch("../api/v1/me").then((answer) => answer.json())');
    const expiresAt = new Date(Date.now() + 600_000).toISOString();
    await page.route("**/api/v1/me", (route) => route.fulfill({ json: { ...me, expiresAt } }));
    const renewal = page.waitForResponse("**/api/v1/auth/session/renewal");
    await page.clock.fastForward(60_000);
    expect((await renewal).status()).to.equal(200);
  });

  describe("while another tab changes who is signed in", () => {
    let other: Account;
    before(async () => {
      other = await openAccount(stage.relay.url);
    });
    const nameOf = async ({ owner, tenantId }: Account) =>
      String((await owner.get(`/api/v1/tenants/${tenantId}`))["name"]);

    it("acts for the caller on the screen only: of another it shows the page, and does nothing", async () => {
      seen = await stage.visit();
      const { page } = seen;
      await seen.go("/settings");
      await signIn(seen, account);
      await page.getByLabel("Name").fill("renamed by a stale tab");
      const { email, password } = other;
      // No page of ours, so that no tab hears of it.
      await page.evaluate(`fetch("../api/v1/auth/session", {
        method: "POST", headers: { "Content-Type": "application/json" },
        body: ${JSON.stringify(JSON.stringify({ email, password }))},
      })`);
      const names = [await nameOf(account), await nameOf(other)];
      await page.getByRole("button", { name: "Save" }).click();
      await page.getByRole("banner").getByText(names[1]!).waitFor();
      await page.locator(`[name="name"][value="${names[1]}"]`).waitFor();
      expect([await nameOf(account), await nameOf(other)]).to.deep.equal(names);
    });

    it("shows the new caller, the sign-in, and again its page, as soon as the other tab has changed it", async () => {
      seen = await stage.visit();
      const { page } = seen;
      await seen.go("/destinations?Status=Inactive");
      await signIn(seen, account);
      const second = await stage.visit();
      await second.go("/login");
      await signIn(second, other);
      await page.getByRole("banner").getByText(await nameOf(other)).waitFor();
      expect(page.url()).to.equal(`${stage.origin}/app/destinations`);
      await second.page.getByRole("button", { name: "Account and preferences" }).click();
      await second.page.getByRole("button", { name: "Sign out" }).click();
      await page.getByLabel("Password").waitFor();
      await signIn(second, account);
      await page.getByRole("banner").getByText(await nameOf(account)).waitFor();
      expect(page.url()).to.equal(`${stage.origin}/app/destinations`);
    });
  });

  it("shows pages though the browser has preferences that this release does not know", async () => {
    seen = await stage.visit();
    const { page } = seen;
    await seen.go("/login");
    await page.evaluate(`localStorage.setItem("relay-preferences", '{"zone":"Mars","theme":7,"singleKeys":"no"}')`);
    await signIn(seen, account);
    await seen.go("/settings");
    await page.getByRole("heading", { name: "Settings" }).waitFor();
    await page.getByRole("button", { name: "Account and preferences" }).click();
    expect(await page.getByLabel("Times").inputValue()).to.equal("UTC");
    await page.evaluate("localStorage.clear()");
  });

  describe("behind TLS, below a path of the proxy", () => {
    let proxy: Proxy | undefined;
    before(async function () {
      proxy = await proxyOrSkip(this, "nginx", new URL(stage.relay.url).host, { prefix: "/relay" });
    });
    after(() => proxy?.close());

    it("comes back to the page that was asked for, and ends with the sign-out",
      signsInAndOut(() => `https://localhost:${proxy!.port}/relay`));
  });
});
