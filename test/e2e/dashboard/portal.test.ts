import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import type { Page } from "playwright-core";
import type { Schemas } from "../../../packages/client/src/index.ts";
import { text } from "../../support/api-client.ts";
import { axeViolations } from "../../support/axe.ts";
import { atLocalhost, dashboardStage, type Visit } from "../../support/dashboard.ts";
import { eventReaches, openAccount, type Account } from "../../support/relay.ts";

const owner = "customer-12";

describe("the portal's pages", () => {
  /** The site that leads to the portal, and frames it. */
  const site = createServer((_request, answer) => {
    answer.setHeader("content-type", "text/html");
    answer.end(framed);
  });
  let shop = "";
  let framed = "";
  before(async () => {
    await once(site.listen(0, "127.0.0.1"), "listening");
    shop = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
  });
  const folder = mkdtempSync(join(tmpdir(), "portal-"));
  const logo = join(folder, "logo.svg");
  writeFileSync(logo, '<svg xmlns="http://www.w3.org/2000/svg" width="64" height="24"><circle r="9"/></svg>');
  after(() => {
    site.close();
    rmSync(folder, { recursive: true });
  });
  const stage = dashboardStage({
    receiver: {},
    env: {
      RELAY_PORTAL_NAME: "Acme Webhooks",
      RELAY_PORTAL_COLOR: "#1a4fa3",
      RELAY_PORTAL_LOGO: logo,
      get RELAY_PORTAL_ORIGINS() {
        return shop;
      },
    },
  });
  let account: Account;
  let hook: string;
  let failed: string;
  let others: string;
  let hooks = 0;
  beforeEach(async () => {
    account = await openAccount(stage.relay.url, { maxTrys: 2 });
    hooks += 1;
    hook = stage.receiver.url(`/customer-${hooks}`);
    stage.receiver.on(`/customer-${hooks}`, () => ({ status: 404, body: "It moved to /v2/webhooks" }));
    const other = stage.receiver.url(`/other-${hooks}`);
    const own = await account.destination({ url: hook, ownerId: owner, serverRateLimit: 5 });
    const foreign = await account.destination({ url: other, serverRateLimit: 5 });
    failed = text(await account.producer.post(own.ingest, { order: 1 }, { "x-event-type": "order.paid" }), "eventId");
    others = text(await account.producer.post(foreign.ingest, { order: 2 }), "eventId");
    await eventReaches(account.owner, failed, "CriticalFailure");
    await eventReaches(account.owner, others, "Succeeded");
  });

  const link = async (more: Partial<Schemas["CreatePortalLinkRequest"]> = {}) => {
    const created = await account.owner.post("/api/v1/portal-links", { ownerId: owner, may: ["read"], ...more });
    return { id: text(created, "id"), url: atLocalhost(text(created, "url")) };
  };
  const rows = (page: Page) => page.getByRole("listbox", { name: "Events" }).getByRole("option");
  /** Opens a link; `refused` gets the requests that the relay refuses. */
  const opened = async (url: string): Promise<Visit & { readonly refused: string[] }> => {
    const seen = await stage.visit();
    const refused: string[] = [];
    seen.page.on("response", (answer) => {
      if (answer.status() >= 400) refused.push(`${answer.status()} ${new URL(answer.url()).pathname}`);
    });
    await seen.page.goto(url);
    return { ...seen, refused };
  };

  it("show a customer their own events and why a delivery failed, and ask for nothing else", async () => {
    const { url } = await link({ returnUrl: `${shop}/settings` });
    const seen = await opened(url);
    const { page } = seen;
    await rows(page).first().waitFor();
    expect(new URL(page.url()).pathname + new URL(page.url()).hash).to.equal("/portal/events");
    expect(await page.evaluate("history.length")).to.be.at.most(3);
    expect(await rows(page).count()).to.equal(1);
    expect(await page.title()).to.equal("Events · Acme Webhooks");
    expect(await page.evaluate("document.querySelector('header img').naturalWidth")).to.equal(64);
    const links = page.getByRole("navigation", { name: "Pages" }).getByRole("link");
    expect((await links.allTextContents()).map((each) => each.trim())).to.deep.equal(["Events", "Destinations"]);
    const back = page.getByRole("link", { name: "Back to 127.0.0.1" });
    expect(await back.getAttribute("href")).to.equal(`${shop}/settings`);
    expect(await axeViolations(page)).to.deep.equal([]);
    expect(await rows(page).locator("[data-mark=true]").count()).to.equal(0);
    await rows(page).first().click();
    const panel = page.getByRole("complementary");
    await panel.getByText("It moved to /v2/webhooks").first().waitFor();
    expect(await axeViolations(page)).to.deep.equal([]);
    await panel.getByRole("link", { name: "Open its page" }).click();
    await page.getByRole("heading", { level: 1, name: /order\.paid/ }).waitFor();
    await seen.loaded();
    await page.getByText("It moved to /v2/webhooks").first().waitFor();
    expect(await axeViolations(page)).to.deep.equal([]);
    expect(await page.getByRole("button", { name: /Replay|Resend/ }).count()).to.equal(0);
    await links.nth(1).click();
    const destination = page.getByRole("link", { name: hook });
    await destination.waitFor();
    expect(await page.getByRole("table").getByRole("row").count()).to.equal(2);
    expect(await axeViolations(page)).to.deep.equal([]);
    await destination.click();
    await page.getByRole("heading", { level: 1 }).waitFor();
    for (const tab of ["Health", "Events", "Subscriptions", "Circuit", "Settings", "Changes"]) {
      await page.getByRole("group", { name: "About the destination" }).getByRole("button", { name: tab }).click();
      await seen.loaded();
      expect(await axeViolations(page), tab).to.deep.equal([]);
    }
    expect(seen.refused).to.deep.equal([]);
    await page.goto(`${stage.origin}/portal/people`);
    await rows(page).first().waitFor();
    await page.goto(`${stage.origin}/portal/events/${others}`);
    await page.getByText("event not found").waitFor();
  });

  it("keep the session over a reload, and let a customer replay where the link may", async () => {
    const { id, url } = await link({ may: ["read", "replay", "test"] });
    const { page } = await opened(url);
    await rows(page).first().waitFor();
    await page.reload();
    await rows(page).first().click();
    await page.getByRole("button", { name: "Replay…" }).click();
    await page.getByRole("button", { name: "Replay", exact: true }).click();
    await rows(page).filter({ hasText: "Queued" }).first().waitFor();
    const history = await account.owner.get(`/api/v1/events/${failed}/history?Type=EventReplayed`);
    expect(JSON.stringify(history)).to.include(`"actor":{"type":"portalLink","id":"${id}"`);
  });

  it("let a customer add a destination for some event types, and change them, where the link may", async () => {
    const sender = await account.owner.post("/api/v1/senders", { name: "Shop", fanOut: true });
    await account.owner.post("/api/v1/senders", { name: "Billing", fanOut: true });
    const { url } = await link({ may: ["read", "test", "configure"] });
    const { page, refused } = await opened(url);
    await page.getByRole("link", { name: "Destinations" }).click();
    await page.getByRole("button", { name: "New destination…" }).click();
    const dialog = page.getByRole("dialog", { name: "New destination" });
    await dialog.getByLabel("URL").fill(stage.receiver.url("/mine"));
    await dialog.getByLabel("Name").fill("Mine");
    await dialog.getByLabel("Sender").selectOption("Shop");
    await dialog.getByRole("textbox", { name: "Event types" }).fill("refund.**");
    await dialog.getByRole("button", { name: "Add order.paid" }).click();
    expect(await axeViolations(page)).to.deep.equal([]);
    await dialog.getByRole("button", { name: "Create destination" }).click();
    await dialog.getByRole("alert").filter({ hasText: "eventTypes" }).waitFor();
    expect(refused.splice(0)).to.deep.equal(["400 /api/v1/subscriptions"]);
    await dialog.getByRole("textbox", { name: "Event types" }).fill("refund.*\norder.paid");
    await dialog.getByRole("button", { name: "Create destination" }).click();
    await page.getByRole("heading", { level: 1, name: "Mine" }).waitFor();
    const row = page.getByRole("row").filter({ hasText: "Shop" });
    await row.getByText("refund.*").waitFor();
    expect(await axeViolations(page)).to.deep.equal([]);

    await page.getByRole("button", { name: "Send test event…" }).click();
    await page.getByRole("button", { name: "Send", exact: true }).click();
    await page.getByRole("status", { name: "What came of it" }).getByText("answered 200").waitFor();
    await page.getByRole("button", { name: "Cancel" }).click();

    const path = `/api/v1/ingest/${account.tenantId}/${text(sender, "ingestToken")}`;
    const post = (type: string) => account.producer.post(path, { n: 1 }, { "x-event-type": type, "x-owner-id": owner });
    expect((await post("refund.made"))["deliveries"]).to.have.length(1);
    expect((await post("order.lost"))["deliveries"]).to.deep.equal([]);
    await row.getByRole("button", { name: "Change the subscription of Shop…" }).click();
    const change = page.getByRole("dialog", { name: "Change the subscription" });
    await change.getByRole("textbox", { name: "Event types" }).fill("order.*");
    await change.getByRole("button", { name: "Save" }).click();
    await row.getByText("order.*").waitFor();
    expect((await post("order.lost"))["deliveries"]).to.have.length(1);
    expect(refused).to.deep.equal([]);
    const { items } = await account.owner.get("/api/v1/destinations?Qt=100") as { items: Schemas["Destination"][] };
    expect(items.filter(({ name }) => name === "Mine").map(({ ownerId }) => ownerId)).to.deep.equal([owner]);
  });

  it("say that a link is over when it is opened twice, and when its session ends in mid-work", async () => {
    const { id, url } = await link({ returnUrl: `${shop}/settings` });
    const { page } = await opened(url);
    await rows(page).first().waitFor();
    const again = await opened(url);
    await again.page.getByRole("heading", { name: "This link is over" }).waitFor();
    expect(again.page.url()).not.to.include("prt_");
    expect(await axeViolations(again.page)).to.deep.equal([]);
    await account.owner.delete(`/api/v1/portal-links/${id}`);
    await page.getByRole("link", { name: "Destinations" }).click();
    await page.getByRole("heading", { name: "This link is over" }).waitFor();
    await page.getByRole("link", { name: "Back to 127.0.0.1" }).waitFor();
    expect(await axeViolations(page)).to.deep.equal([]);
  });

  it("work in a frame of an allowed site", async () => {
    const { url } = await link();
    const page = await stage.browser.context.newPage();
    framed = `<iframe src="${url}" width="900" height="700"></iframe>`;
    await page.goto(shop);
    const frame = page.frameLocator("iframe");
    await frame.getByRole("listbox", { name: "Events" }).getByRole("option").first().waitFor();
    await frame.getByRole("link", { name: "Destinations" }).click();
    await frame.getByRole("link", { name: hook }).waitFor();
    expect(JSON.stringify(await account.owner.get("/api/v1/portal-links"))).to.include('"embedded":true');
    await page.close();
  });
});
