import { expect } from "chai";
import type { Page } from "playwright-core";
import { createUser, login, password, type Client } from "../../support/accounts.ts";
import { axeViolations } from "../../support/axe.ts";
import { dashboardStage, signIn } from "../../support/dashboard.ts";
import { eventReaches, openAccount, type Account } from "../../support/relay.ts";

describe("the dashboard's messages", () => {
  const stage = dashboardStage({ receiver: {}, env: { RELAY_RETRY_SCHEDULE: "50ms" } });
  let account: Account;
  let owner: Client;
  let senderId: string;
  let messageId: string;
  /** The events that deliver the message, by the names of their receivers. */
  let deliveries: ReadonlyMap<string, string>;
  let isBroken = true;

  before(async () => {
    account = await openAccount(stage.relay.url, { maxTrys: 2 });
    owner = await login(stage.relay.url, account.email);
    const { receiver } = stage;
    receiver.on("/Ledger", () => isBroken ? { status: 500, body: '{"message": "no such account"}' } : { status: 200 });
    receiver.on("/Billing", () => ({ status: 503 }));
    const sender = await owner.api.createSender({ name: "Shop", fanOut: true });
    senderId = sender.id;
    const names = new Map<string, string>();
    for (const name of ["Warehouse", "Ledger", "Billing", "Refunds"]) {
      const { id } = await account.destination({ url: receiver.url(`/${name}`), name });
      names.set(id, name);
      await owner.api.createSubscription({
        senderId, destinationUrlId: id, eventTypes: [name === "Refunds" ? "refund.*" : "invoice.*"],
        mapping: name === "Warehouse" ? { language: "jmespath", expression: "{order: n}" } : null,
      });
      if (name === "Billing") {
        await owner.api.updateDestination({ id }, { retryPolicy: { schedule: ["1h"], maxTrys: 5 } });
      }
    }
    const said = { "x-event-type": "invoice.paid", "x-owner-id": "acme", "x-idempotency-key": "invoice-1" };
    const path = `/api/v1/ingest/${account.tenantId}/${sender.ingestToken}`;
    messageId = String((await account.producer.post(path, { n: 4711 }, said))["eventId"]);
    const message = await owner.api.getMessage({ id: messageId });
    deliveries = new Map(message.deliveries.map(({ eventId, destinationUrlId }) =>
      [names.get(destinationUrlId) ?? "", eventId]));
    const outcomes = { Warehouse: "Succeeded", Ledger: "CriticalFailure", Billing: "WaitingRetry" };
    for (const [name, status] of Object.entries(outcomes)) {
      await eventReaches(account.owner, deliveries.get(name) ?? "", status);
    }
  });

  const open = async (path: string, person: { readonly email: string; readonly password: string } = account) => {
    const seen = await stage.visit();
    await seen.go(path);
    await signIn(seen, person);
    await seen.loaded();
    return seen;
  };
  const row = (page: Page, name: string) => page.getByRole("list", { name: "Its deliveries" })
    .getByRole("listitem").filter({ has: page.getByRole("link", { name, exact: true }) });

  it("are a sentence and a picture: to whom each went, how far it came, and why", async () => {
    const { page } = await open(`/events/${messageId}`);
    await page.waitForURL(`**/app/messages/${messageId}`);
    expect(await page.locator("[data-sentence]").textContent()).to.match(
      /^invoice.paid for owner acme went to 3 receivers: 1 delivered, 1 failed, 1 waiting for a retry at [\d:.]+\.$/);
    const told = {
      Warehouse: ["Delivered", "1 attempt", "Delivered by attempt 1"],
      Ledger: ["Failed", "2 attempts", "Not delivered: the receiver answered 500 twice (no such account)"],
      Billing: ["Retrying", "1 attempt", "Waits for attempt 2"],
      Refunds: ["Not sent", "It did not get the message: it does not name the event type."],
    };
    for (const [name, texts] of Object.entries(told)) {
      for (const text of texts) expect(await row(page, name).textContent(), name).to.include(text);
    }
    expect(await row(page, "Ledger").locator("svg rect").count()).to.equal(2);
    const card = page.getByRole("region", { name: "The message" });
    for (const text of ["Shop", "acme", "invoice-1"]) await card.getByText(text).first().waitFor();
    await page.getByText("Mapped for Warehouse").click();
    await page.getByText("Differs from the message's payload").waitFor();
    for (const [theme, width] of [["light", 1280], ["dark", 1280], ["dark", 320]] as const) {
      await page.setViewportSize({ width, height: 900 });
      await page.emulateMedia({ colorScheme: theme });
      expect(await axeViolations(page), `${theme}, ${width}`).to.deep.equal([]);
    }
  });

  it("are listed once there is one, with their receivers, by filters in the address", async () => {
    const { page } = await open("/");
    await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "Messages" }).click();
    const listed = page.getByRole("row").filter({ hasText: "invoice.paid" });
    await listed.getByText("3: 1 delivered, 1 failed, 1 waiting for a retry").waitFor();
    await listed.getByText("Under way").waitFor();
    await page.getByLabel("Owner").fill("nobody");
    await page.getByRole("button", { name: "Filter", exact: true }).click();
    await page.getByText("No message matches these filters.").waitFor();
    expect(new URL(page.url()).searchParams.get("OwnerId")).to.equal("nobody");
    await page.getByRole("button", { name: "Clear filters" }).first().click();
    await listed.getByRole("link", { name: "invoice.paid" }).click();
    await page.getByRole("heading", { name: /^invoice\.paid 0/ }).waitFor();
  });

  it("are found by id in the search field, and lead to the story of each delivery and back", async () => {
    const { page } = await open("/senders");
    const field = page.getByRole("combobox", { name: "Search" });
    await field.fill(messageId);
    await page.getByRole("option", { name: /^Message invoice\.paid/ }).waitFor();
    await field.press("Enter");
    await row(page, "Ledger").getByRole("link", { name: /^Its story/ }).click();
    await page.waitForURL(`**/events/${deliveries.get("Ledger")}`);
    await page.getByRole("listitem").filter({ hasText: "Accepted" })
      .getByText(/routed by subscription .*, as a delivery of message/).waitFor();
    await page.getByText("One of 3 deliveries of message").getByRole("link").click();
    await page.waitForURL(`**/messages/${messageId}`);
  });

  it("are read by a Viewer without acts", async () => {
    const viewer = await createUser(owner, "viewer");
    const { page } = await open(`/messages/${messageId}`, { email: viewer.email, password });
    await page.getByText("Developers can replay and cancel messages.").waitFor();
    expect(await page.getByRole("button", { name: /deliver/ }).count()).to.equal(0);
  });

  it("are replayed and cancelled with each delivery that allows it", async () => {
    const { page } = await open(`/messages/${messageId}`);
    isBroken = false;
    // Its failures opened the circuit, which would hold the replay.
    const { items } = await owner.api.listDestinations({ Qt: 100 });
    for (const { id, status } of items) {
      if (status === "Suspended") await owner.api.updateDestination({ id }, { status: "active" });
    }
    await page.getByRole("button", { name: "Replay 1 delivery…" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Replay" }).click();
    await page.getByText("2 delivered, 1 waiting for a retry at").waitFor();
    await page.getByRole("button", { name: "Cancel 1 delivery…" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Cancel", exact: true }).click();
    await page.getByText("2 delivered, 1 cancelled.").waitFor();
    expect(await owner.api.getMessage({ id: messageId })).to.include({ status: "Succeeded" });
    await row(page, "Billing").getByText("Cancelled", { exact: true }).waitFor();
  });

  it("have no page in the navigation of a tenant without any", async () => {
    const { page } = await open("/messages", await openAccount(stage.relay.url));
    await page.getByText("There is none yet.").waitFor();
    const pages = page.getByRole("navigation", { name: "Pages" });
    await pages.getByRole("link", { name: "Events" }).waitFor();
    expect(await pages.getByRole("link", { name: "Messages" }).count()).to.equal(0);
  });
});
