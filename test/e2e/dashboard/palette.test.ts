import { expect } from "chai";
import type { Page } from "playwright-core";
import { dashboardStage, signIn, type Visit } from "../../support/dashboard.ts";
import { eventReaches, openAccount, type Account } from "../../support/relay.ts";

describe("the dashboard's search field", () => {
  const stage = dashboardStage({ receiver: {} });
  let account: Account;
  let destinationId: string;
  let eventId: string;
  let seen: Visit;
  let page: Page;
  before(async () => {
    account = await openAccount(stage.relay.url, { maxTrys: 10 });
    const { id } = await account.destination({ url: "https://billing.example/hook" });
    destinationId = id;
    await account.owner.post("/api/v1/senders", { name: "Shop till", destinationUrlId: id });
    stage.receiver.on("/gone", () => ({ status: 410, body: "It moved" }));
    const { ingest } = await account.destination({ url: stage.receiver.url("/gone") });
    const headers = { "x-event-type": "order.paid", "x-tags": "order=4711", "x-idempotency-key": "key-4711" };
    ({ eventId } = await account.producer.post(ingest, { note: "on a red bicycle" }, headers) as { eventId: string });
    await eventReaches(account.owner, eventId, "CriticalFailure");
  });
  beforeEach(async () => {
    seen = await stage.visit();
    ({ page } = seen);
    await seen.go("/settings");
    await signIn(seen, account);
    await seen.loaded();
    await page.keyboard.press("/");
    await page.getByRole("option", { name: "Page Overview", selected: true }).waitFor();
  });

  const field = () => page.getByRole("combobox", { name: "Search" });
  const chosen = (name: string | RegExp) => page.getByRole("option", { name, selected: true }).waitFor();

  it("goes to pages by arrows and by their names", async () => {
    await page.keyboard.press("ArrowUp");
    await chosen("Page Settings");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowDown");
    await chosen("Page Incidents");
    await page.keyboard.type("peop");
    await chosen("Page People");
    expect(await field().getAttribute("aria-activedescendant"))
      .to.equal(await page.getByRole("option", { selected: true }).getAttribute("id"));
    await page.keyboard.press("Enter");
    await page.waitForURL(`${stage.origin}/app/people`);
    expect(await field().inputValue()).to.equal("");
  });

  it("goes to an event by its id, and by Enter behind the last letter", async () => {
    await page.keyboard.insertText(` ${eventId.toUpperCase()} `);
    await page.keyboard.press("Enter");
    await page.waitForURL(`${stage.origin}/app/events/${eventId}`);
  });

  it("goes to destinations and senders by a part of their names", async () => {
    await page.keyboard.type("billing");
    await chosen("Destination https://billing.example/hook");
    await page.keyboard.press("Enter");
    await page.waitForURL(`${stage.origin}/app/destinations/${destinationId}`);
    await page.keyboard.press("Control+k");
    await page.keyboard.type("TILL");
    await chosen("Sender Shop till");
    await page.keyboard.press("Enter");
    await page.waitForURL(`${stage.origin}/app/senders/*`);
  });

  it("goes on to the payloads where nothing else is found, and shows the text in the found rows", async () => {
    await page.keyboard.type("red bicycle");
    await page.getByText("Nothing is known by this text.").waitFor();
    await page.keyboard.press("Enter");
    await page.waitForURL(/\/app\/events\?Text=red\+bicycle$/);
    await page.getByRole("option", { name: eventId }).locator("mark", { hasText: "on a red bicycle" }).waitFor();
  });

  it("closes by Escape; its letters are no keys of the page", async () => {
    await page.keyboard.type("ge?");
    await page.getByText("Nothing is known by this text.").waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("listbox", { name: "Found" }).waitFor({ state: "detached" });
    expect(page.url()).to.equal(`${stage.origin}/app/settings`);
    await page.keyboard.press("g");
    await page.keyboard.press("e");
    await page.waitForURL(`${stage.origin}/app/events`);
  });

  it("leads from an order number to its event, to the reason, and to its delivery in 3 clicks", async () => {
    await page.evaluate("clicks = 0; addEventListener('click', ({ detail }) => { clicks += detail > 0; }, true)");
    stage.receiver.on("/gone", () => ({ status: 204 }));
    await page.keyboard.type("4711");
    await page.getByRole("option", { name: /^Event order\.paid .* by its tag order$/ }).click();
    await page.getByText(/Not delivered: the receiver answered .*410/).waitFor();
    await page.getByRole("button", { name: "Resend…" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Resend" }).click();
    await eventReaches(account.owner, eventId, "Succeeded");
    await page.getByText(/^Delivered by attempt 2/).waitFor();
    expect(await page.evaluate("clicks")).to.equal(3);
  });
});
