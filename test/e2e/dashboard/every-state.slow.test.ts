import { expect } from "chai";
import type { Route } from "playwright-core";
import { axeViolations } from "../../support/axe.ts";
import { dashboardStage, signIn, type Visit } from "../../support/dashboard.ts";
import { pagesOf } from "../../support/dashboard-pages.ts";
import { furnish, furnishedReceiver, type Furnished } from "../../support/furnished-tenant.ts";
import { openAccount } from "../../support/relay.ts";

describe("every page of the dashboard has no violation that axe finds, light and dark", () => {
  const stage = dashboardStage({
    receiver: { record: false, script: furnishedReceiver() }, env: { RELAY_RETRY_SCHEDULE: "100ms" },
  });
  const requestId = "0198f2a1-6c3e-7b54-9d0f-2a8b6c4d1e03";
  let full: Furnished;
  let seen: Visit;

  before(async () => {
    full = await furnish(stage.relay.url, `https://127.0.0.1:${stage.receiver.port}`, { events: 2 });
  });
  beforeEach(async () => {
    seen = await stage.visit();
  });

  /** Pages as they are opened, without their other tabs; the account's page asks the relay for nothing. */
  const pages = () => pagesOf(full).filter((path) => !path.includes("?") && path !== "/account");

  /** Takes the place of the relay's answers, except for the caller's identity. */
  const answer = (handler: (route: Route) => Promise<void> | void) => seen.page.route(/\/api\/v1\/(?!me$)/, handler);

  /** The problems that axe finds on pages in the state that `reach` brings them to; light and dark take turns. */
  async function faultsOf(paths: readonly string[], reach: () => Promise<void>) {
    const { page } = seen;
    const faults: Record<string, readonly string[]> = {};
    for (const [at, path] of paths.entries()) {
      await seen.go(path);
      await reach().catch((error: unknown) => expect.fail(`${path}: ${String(error)}`));
      const [colorScheme, width] = at % 2 === 0 ? ["light", 1280] as const : ["dark", 320] as const;
      await page.setViewportSize({ width, height: 800 });
      await page.emulateMedia({ colorScheme });
      const found = await axeViolations(page);
      if (found.length > 0) faults[`${path}, ${colorScheme}`] = found;
    }
    return faults;
  }

  async function enter(login: Pick<Furnished, "email" | "password"> = full) {
    await seen.go("/login");
    await signIn(seen, login);
  }

  it("while it is loading, which shows after 150 ms", async () => {
    await enter();
    await answer(() => undefined);
    const faults = await faultsOf(pages(), async () => {
      await seen.page.locator("h1").waitFor();
      await seen.page.locator("[aria-label=Loading][data-shown=true]").first().waitFor();
    });
    expect(faults).to.deep.equal({});
  }).timeout(120_000);

  it("where the relay answers with an error: its text, the request's id, and another try", async () => {
    const { page } = seen;
    await enter();
    await answer((route) => route.fulfill({
      status: 500, contentType: "text/plain; charset=utf-8", headers: { "X-Request-Id": requestId },
      body: "the relay has a defect",
    }));
    const failure = page.getByRole("alert").filter({ hasText: "the relay has a defect" })
      .filter({ hasText: `Request ${requestId}` });
    const faults = await faultsOf(pages(), () => failure.getByRole("button", { name: "Try again" }).first().waitFor());
    expect(faults).to.deep.equal({});
    await page.unroute(/\/api\/v1\/(?!me$)/);
    const count = await failure.count();
    await failure.getByRole("button", { name: "Try again" }).first().click();
    await failure.nth(count - 1).waitFor({ state: "detached" });
  }).timeout(120_000);

  it("while the relay catches up: it says so, and keeps the content", async () => {
    const { page } = seen;
    await page.clock.install();
    await enter();
    let isAway = false;
    await answer((route) => isAway ? route.fulfill({
      status: 503, contentType: "text/plain; charset=utf-8", headers: { "Retry-After": "1" },
      body: "the storage is away",
    }) : route.continue());
    const faults = await faultsOf(pages(), async () => {
      isAway = false;
      await seen.loaded();
      isAway = true;
      await page.clock.fastForward(120_000);
      await page.evaluate('for (const type of ["offline", "online"]) dispatchEvent(new Event(type))');
      await page.getByText("Catching up: the storage is away. Trying again…").first().waitFor();
      expect(await page.locator("[aria-label=Loading], [role=alert] > p").count()).to.equal(0);
    });
    expect(faults).to.deep.equal({});
  }).timeout(120_000);

  it("without a match for its filters: one act clears them", async () => {
    await enter(await openAccount(stage.relay.url));
    const paths = [
      "/events?Status=Cancelled", "/events?Text=nothing", "/destinations?Status=Suspended",
      `/audit?SubjectId=${requestId}`, "/messages?EventType=nothing",
    ];
    // Beside the filters of some lists there is one, too.
    const clear = seen.page.locator("p").getByRole("button", { name: /^(Clear filters|Show all)$/ }).last();
    expect(await faultsOf(paths, () => clear.waitFor())).to.deep.equal({});
  });

  it("without the role for its content: a line names the roles that can help", async () => {
    await enter();
    const me = await full.owner.getMe();
    await seen.page.route("**/api/v1/me", (route) => route.fulfill({ json: { ...me, operations: [] } }));
    expect(await faultsOf(pages(), () => seen.page.locator("[data-no-right]").first().waitFor())).to.deep.equal({});
  }).timeout(120_000);
});
