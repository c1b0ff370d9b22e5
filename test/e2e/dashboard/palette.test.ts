import { expect } from "chai";
import type { Page } from "playwright-core";
import { dashboardStage, signIn, type Visit } from "../../support/dashboard.ts";
import { openAccount, type Account } from "../../support/relay.ts";

describe("the dashboard's palette", () => {
  const stage = dashboardStage();
  let account: Account;
  let destinationId: string;
  let eventId: string;
  let seen: Visit;
  let page: Page;
  before(async () => {
    account = await openAccount(stage.relay.url);
    const { id, ingest } = await account.destination({ url: "https://billing.example/hook" });
    destinationId = id;
    await account.owner.post("/api/v1/senders", { name: "Shop till", destinationUrlId: id });
    ({ eventId } = await account.producer.post(ingest, {}) as { eventId: string });
  });
  beforeEach(async () => {
    seen = await stage.visit();
    ({ page } = seen);
    await seen.go("/settings");
    await signIn(seen, account);
    await page.keyboard.press("Control+k");
    await combobox().waitFor();
  });

  const combobox = () => page.getByRole("combobox", { name: "Page, event id, destination or sender" });
  const chosen = (name: string | RegExp) => page.getByRole("option", { name, selected: true }).waitFor();

  it("goes to pages by arrows and by their names", async () => {
    await page.keyboard.press("ArrowDown");
    await chosen("Page Events");
    await page.keyboard.press("ArrowUp");
    await page.keyboard.press("ArrowUp");
    await chosen("Page Settings");
    await page.keyboard.type("peop");
    await chosen("Page People");
    expect(await combobox().getAttribute("aria-activedescendant"))
      .to.equal(await page.getByRole("option", { selected: true }).getAttribute("id"));
    await page.keyboard.press("Enter");
    await page.waitForURL(`${stage.origin}/app/people`);
    expect(await page.getByRole("dialog").count()).to.equal(0);
  });

  it("goes to an event by its id, and says where no event has it", async () => {
    await page.keyboard.insertText("01980000-0000-7000-8000-000000000000");
    await page.getByRole("status").getByText("not found").waitFor();
    await page.keyboard.press("Control+a");
    await page.keyboard.insertText(` ${eventId.toUpperCase()} `);
    await chosen(new RegExp(`^Event ${eventId}`));
    await page.keyboard.press("Enter");
    await page.waitForURL(`${stage.origin}/app/events/${eventId}`);
  });

  it("goes to destinations and senders by their names", async () => {
    await page.keyboard.type("billing");
    await chosen("Destination https://billing.example/hook");
    await page.keyboard.press("Enter");
    await page.waitForURL(`${stage.origin}/app/destinations/${destinationId}`);
    await combobox().waitFor({ state: "detached" });
    await page.keyboard.press("Control+k");
    await combobox().waitFor();
    await page.keyboard.type("TILL");
    await chosen("Sender Shop till");
    await page.keyboard.press("Enter");
    await page.waitForURL(`${stage.origin}/app/senders/*`);
  });

  it("closes by Escape and gives the focus back; its letters are no keys of the page", async () => {
    await page.keyboard.type("ge?");
    await page.getByText("Nothing has this name").waitFor();
    await page.keyboard.press("Enter");
    await page.keyboard.press("Escape");
    await combobox().waitFor({ state: "detached" });
    expect(page.url()).to.equal(`${stage.origin}/app/settings`);
    const opener = page.getByRole("button", { name: "Go to…" });
    await opener.focus();
    await page.keyboard.press("Enter");
    await combobox().waitFor();
    await page.keyboard.press("Escape");
    await page.locator("button:focus", { hasText: "Go to…" }).waitFor();
  });
});
