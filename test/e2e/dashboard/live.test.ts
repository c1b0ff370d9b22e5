import { expect } from "chai";
import type { Locator, Page } from "playwright-core";
import { text } from "../../support/api-client.ts";
import { dashboardStage, signIn, type Visit } from "../../support/dashboard.ts";
import { eventReaches, openAccount, type Account } from "../../support/relay.ts";

describe("the dashboard, when its connection, its version or its session ends", () => {
  const stage = dashboardStage({ receiver: {} });
  let account: Account;
  let events: string[];
  let seen: Visit;
  let page: Page;

  before(async () => {
    account = await openAccount(stage.relay.url);
    stage.receiver.on("/ok", () => ({ status: 200 }));
    const { ingest } = await account.destination({ url: stage.receiver.url("/ok") });
    events = [];
    for (const n of [1, 2, 3]) events.push(text(await account.producer.post(ingest, { n, word: "needle" }), "eventId"));
    for (const id of events) await eventReaches(account.owner, id, "Succeeded");
  });
  beforeEach(async () => {
    seen = await stage.visit();
    page = seen.page;
    await seen.go("/login");
  });

  const liveState = (tab: Page = page) => tab.locator("header [data-state]");
  const isLive = (tab: Page = page) => liveState(tab).getByText("Live", { exact: true }).waitFor();

  it("says Live, Reconnecting, and since when it is offline, also behind a proxy that answers", async () => {
    await page.route("**/api/v1/stream*", (route) => route.fulfill({ status: 404, body: "no such page" }));
    await signIn(seen, account);
    await liveState().getByText("Reconnecting").waitFor();
    await liveState().getByText(/^Offline since \d\d:\d\d$/).waitFor();
    await page.unroute("**/api/v1/stream*");
    await isLive();
  });

  it("leads every tab to the sign-in once the session is over, and all go on when one has signed in", async () => {
    await signIn(seen, account);
    await isLive();
    const other = await stage.visit();
    await other.go("/settings");
    await isLive(other.page);
    await page.evaluate('fetch("../api/v1/auth/session", { method: "DELETE" })');
    for (const tab of [page, other.page]) await tab.getByRole("heading", { name: "Sign in" }).waitFor();
    await signIn(seen, account);
    await other.page.getByRole("heading", { name: "Settings" }).waitFor();
    for (const tab of [page, other.page]) await isLive(tab);
  });

  it("offers to reload where a new version has no such part any more, and keeps the page", async () => {
    await signIn(seen, account);
    await seen.go("/events");
    const missing = /\/assets\/(?!events-page)[\w-]+\.js$/;
    await page.getByRole("listbox", { name: "Events" }).getByRole("option").nth(2).waitFor();
    // The page keeps the parts that it has loaded by now.
    await page.route(missing, (route) => route.fulfill({ status: 404, body: "" }));
    const offer = (place: Page | Locator) => place.getByRole("button", { name: "Reload the page" });
    await page.getByRole("link", { name: "Audit" }).click();
    await offer(page).waitFor();
    await page.getByRole("navigation", { name: "Pages" }).waitFor();
    await page.unroute(missing);
    await seen.go(`/events/${events[0]}`);
    const editor = /\/assets\/chunk-[\w-]+\.js$/;
    await page.route(editor, (route) => route.fulfill({ status: 404, body: "" }));
    await page.reload();
    await offer(page).first().waitFor();
    await page.getByRole("heading", { name: "Event", level: 1 }).waitFor();
    await page.unroute(editor);
    await offer(page).first().click();
    await page.locator(".cm-content").first().waitFor();
  });

  it("leaves Enter and Escape to an input method", async () => {
    await signIn(seen, account);
    await seen.go("/events");
    const typed = (key: string, how: object) => {
      const init = JSON.stringify({ key, bubbles: true, cancelable: true, ...how });
      return page.evaluate(`document.activeElement.dispatchEvent(new KeyboardEvent("keydown", ${init}))`);
    };
    await page.keyboard.press("Control+k");
    const field = page.getByRole("combobox", { name: "Search" });
    await field.fill("audit");
    for (const how of [{ isComposing: true }, { keyCode: 229 }]) {
      for (const key of ["Escape", "Enter"]) await typed(key, how);
    }
    expect(await field.getAttribute("aria-expanded")).to.equal("true");
    expect(new URL(page.url()).pathname).to.equal("/app/events");
    await typed("Escape", {});
    await page.getByRole("listbox", { name: "Found" }).waitFor({ state: "detached" });
  });

  it("lists each found event once though the search broke off and is tried again", async () => {
    await signIn(seen, account);
    let searches = 0;
    await page.route("**/api/v1/events/search?**", async (route) => {
      const whole = await route.fetch({ headers: { ...route.request().headers(), "sec-fetch-site": "same-origin" } });
      const lines = (await whole.text()).trimEnd().split("\n");
      searches += 1;
      await route.fulfill({
        status: 200, contentType: "application/x-ndjson",
        body: searches === 1 ? `${lines.slice(0, -1).join("\n")}\n` : `${lines.join("\n")}\n`,
      });
    });
    await seen.go("/events?Text=needle");
    await page.getByText("3 found before the scan failed.").waitFor();
    await page.getByRole("button", { name: "Try again" }).click();
    await page.getByText(/^3 found in/).waitFor();
    const rows = page.getByRole("listbox", { name: "Events" }).getByRole("option");
    const ids = await rows.locator("code").allTextContents();
    expect(ids.sort()).to.deep.equal([...events].sort());
  });
});
