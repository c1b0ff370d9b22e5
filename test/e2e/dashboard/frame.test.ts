import { expect } from "chai";
import type { Page } from "playwright-core";
import { dashboardStage, signIn, type Visit } from "../../support/dashboard.ts";
import { furnish, furnishedReceiver, type Furnished } from "../../support/furnished-tenant.ts";
import { openAccount } from "../../support/relay.ts";

/** The layout shift of the page since it was loaded. */
const layoutShift = `new Promise((resolve) => {
  let sum = 0;
  new PerformanceObserver((list) => {
    for (const { value, hadRecentInput } of list.getEntries()) if (!hadRecentInput) sum += value;
  }).observe({ type: "layout-shift", buffered: true });
  requestAnimationFrame(() => requestAnimationFrame(() => resolve(sum)));
})`;

describe("the dashboard's frame", () => {
  const stage = dashboardStage({
    receiver: { record: false, script: furnishedReceiver() }, env: { RELAY_RETRY_SCHEDULE: "100ms" },
  });
  let full: Furnished;
  let seen: Visit;
  let page: Page;
  before(async () => {
    full = await furnish(stage.relay.url, `https://127.0.0.1:${stage.receiver.port}`);
  });
  beforeEach(async () => {
    seen = await stage.visit();
    ({ page } = seen);
    await seen.go("/audit");
  });

  const pages = () => page.getByRole("navigation", { name: "Pages" });

  it("collapses the sidebar to icons that keep their names, also after a reload", async () => {
    await signIn(seen, full);
    await pages().getByRole("button", { name: "Collapse" }).click();
    await pages().getByRole("button", { name: "Expand the sidebar" }).waitFor();
    await page.reload();
    expect((await pages().boundingBox())?.width).to.be.below(64);
    await pages().getByRole("link", { name: "Events" }).click();
    await page.waitForURL(`${stage.origin}/app/events`);
    await pages().getByRole("button", { name: "Expand the sidebar" }).click();
    expect((await pages().boundingBox())?.width).to.be.above(200);
  });

  it("has the pages in a menu on narrow screens, which closes by a choice and by Escape", async () => {
    await signIn(seen, full);
    await page.setViewportSize({ width: 899, height: 800 });
    await pages().waitFor({ state: "hidden" });
    await page.getByRole("button", { name: "Menu" }).press("Enter");
    await pages().getByRole("link", { name: "People" }).click();
    await page.waitForURL(`${stage.origin}/app/people`);
    await pages().waitFor({ state: "hidden" });
    await page.getByRole("button", { name: "Menu" }).press("Enter");
    await pages().waitFor();
    await page.keyboard.press("Escape");
    await pages().waitFor({ state: "hidden" });
  });

  it("leads to the first steps until an event is delivered", async () => {
    await signIn(seen, await openAccount(stage.relay.url));
    await pages().getByRole("link", { name: "Start" }).click();
    await page.waitForURL(`${stage.origin}/app/start`);
    await page.context().clearCookies();
    await seen.go("/audit");
    await signIn(seen, full);
    await seen.loaded();
    expect(await pages().getByRole("link", { name: "Start" }).count()).to.equal(0);
  });

  it("breaks no row by a URL of 2,000 characters or a name of 255", async () => {
    const { owner } = full;
    const url = `https://127.0.0.1:${stage.receiver.port}/${"segment/".repeat(260)}`.slice(0, 1_993) + "the-end";
    const { id } = await owner.createDestination({ url });
    await owner.createSender({ name: `${"n".repeat(127)} ${"m".repeat(127)}`, destinationUrlId: id });
    await signIn(seen, full);
    for (const path of ["/destinations", "/senders", "/audit", `/destinations/${id}?tab=changes`]) {
      await seen.go(path);
      await seen.loaded();
      await page.getByText("the-end").first().waitFor();
      const highest = await page.evaluate<number>(
        "Math.max(...[...document.querySelectorAll('tbody tr, main ol > li')].map((row) => row.offsetHeight))");
      expect(highest, path).to.be.below(72);
    }
  });

  it("keeps the content of pages in place while it loads, and scrolls down only at any width", async () => {
    await signIn(seen, full);
    const faults: Record<string, number> = {};
    const { events, destinationId, senderId } = full;
    const tabs = ["health", "events", "subscriptions", "circuit", "settings", "changes"];
    const paths = [
      "/", "/events", `/events?event=${events.failed}`, `/events/${events.failed}`,
      `/events/${events.held}`, "/destinations", "/audit", "/senders",
      `/senders/${senderId}?tab=settings`, "/people", "/people?tab=invites", "/settings",
      ...tabs.map((tab) => `/destinations/${destinationId}?tab=${tab}`),
    ];
    for (const path of paths) {
      await seen.go(path);
      await seen.loaded();
      const shift = await page.evaluate<number>(layoutShift);
      if (shift >= 0.05) faults[path] = shift;
      for (const width of [320, 640, 901, 2560]) {
        await page.setViewportSize({ width, height: 800 });
        const tooWide = await page.evaluate<number>(
          "document.documentElement.scrollWidth - document.documentElement.clientWidth");
        if (tooWide > 0) faults[`${path}, ${width} px wide`] = tooWide;
      }
      await page.setViewportSize({ width: 1280, height: 720 });
    }
    expect(faults).to.deep.equal({});
  });
});
