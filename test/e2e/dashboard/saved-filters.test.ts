import { expect } from "chai";
import type { Page } from "playwright-core";
import { createUser, login } from "../../support/accounts.ts";
import { text } from "../../support/api-client.ts";
import { dashboardStage, signIn } from "../../support/dashboard.ts";
import { eventReaches, openAccount, type Account } from "../../support/relay.ts";

describe("the dashboard's columns and saved filters", () => {
  const stage = dashboardStage({ receiver: {} });
  let account: Account;
  let hooks = 0;
  beforeEach(async () => {
    account = await openAccount(stage.relay.url);
  });

  const listOf = (page: Page) => page.getByRole("listbox", { name: "Events" });
  const shown = async (path: string) => {
    const seen = await stage.visit();
    await seen.go(path);
    await signIn(seen, account);
    return seen.page;
  };
  /** A destination whose receiver answers with a status. */
  const destination = async (status = 200) => {
    const hook = `/hook-${(hooks += 1)}`;
    stage.receiver.on(hook, () => ({ status }));
    return account.destination({ url: stage.receiver.url(hook) });
  };
  /** Posts events one after another, and waits until each has come to an end. */
  const posted = async ({ ingest }: { readonly ingest: string }, count: number, status = "Succeeded") => {
    for (let n = 1; n <= count; n++) {
      const id = text(await account.producer.post(ingest, { n, name: `order ${n}` }), "eventId");
      await eventReaches(account.owner, id, status);
    }
  };

  it("has columns from payloads, by JSON Pointer, in the address", async () => {
    await posted(await destination(), 3);
    const page = await shown("/events");
    const asked: string[] = [];
    page.on("request", (request) => asked.push(new URL(request.url()).pathname));
    const row = listOf(page).getByRole("option").nth(0);
    await row.waitFor();
    await page.getByRole("button", { name: "Columns" }).click();
    const pointer = page.getByLabel("Column from the payload");
    await pointer.fill("n");
    await page.keyboard.press("Enter");
    await page.getByText(/^A JSON Pointer begins with a slash/).waitFor();
    await pointer.fill("/name");
    await page.keyboard.press("Enter");
    await row.getByTitle("order 3", { exact: true }).waitFor();
    await pointer.fill("/none/of/these");
    await page.keyboard.press("Enter");
    await row.getByTitle("–", { exact: true }).waitFor();
    expect(new URL(page.url()).searchParams.get("columns")).to.equal("/name\n/none/of/these");
    await page.reload();
    await row.getByTitle("order 3", { exact: true }).waitFor();
    await page.setViewportSize({ width: 320, height: 800 });
    await row.getByTitle("order 3", { exact: true }).waitFor();
    expect(asked.filter((path) => /\/events\/[\da-f-]{36}$/.test(path))).to.deep.equal([]);
    await page.getByRole("button", { name: "Columns (2)" }).click();
    await page.getByRole("button", { name: "Remove the column /name" }).click();
    await row.getByTitle("order 3", { exact: true }).waitFor({ state: "detached" });
  });

  it("saves filters and columns under a name, and shares them with the tenant", async () => {
    await posted(await destination(), 2);
    await posted(await destination(410), 1, "CriticalFailure");
    const page = await shown("/events?Status=CriticalFailure&columns=%2Fn");
    await page.getByText("1 event", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Saved filters" }).click();
    await page.getByLabel("Name for these filters").fill("Failed, shop");
    await page.keyboard.press("Enter");
    await page.getByRole("link", { name: "Failed, shop" }).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Clear filters" }).first().click();
    await page.getByText("3 events", { exact: true }).waitFor();
    await page.reload();
    await page.getByRole("button", { name: "Saved filters" }).click();
    await page.getByRole("link", { name: "Failed, shop" }).click();
    await page.getByText("1 event", { exact: true }).waitFor();
    expect(new URL(page.url()).search).to.equal("?Status=CriticalFailure&columns=%2Fn");
    await page.getByRole("button", { name: "Saved filters" }).click();
    await page.getByLabel("Name for these filters").fill("Failed, shop");
    await page.getByLabel("Share with the tenant").check();
    await page.getByRole("button", { name: "Save these filters" }).click();
    await page.getByText("shared", { exact: true }).waitFor();
    expect(await page.getByRole("link", { name: "Failed, shop" }).count()).to.equal(1);
    await page.getByRole("button", { name: "Remove Failed, shop" }).click();
    await page.getByText("Filters that you save, or others share, are here.").waitFor();
  });

  it("lists all saved filters, by name, and finds them by a part of it", async () => {
    const view = { page: "events", query: "Status=CriticalFailure" };
    for (let n = 1; n <= 100; n++) await account.owner.post("/api/v1/views", { ...view, name: `view ${n}` });
    const colleague = await createUser(await login(stage.relay.url, account.email), "developer");
    await colleague.client.api.createView({ ...view, name: "zz shared", shared: true });
    const page = await shown("/events");
    await page.getByRole("button", { name: "Saved filters" }).click();
    const menu = page.getByRole("group", { name: "Saved filters" });
    await menu.getByRole("link").nth(100).waitFor();
    await menu.getByRole("searchbox").fill("VIEW 42");
    await menu.getByRole("link", { name: "view 42" }).waitFor();
    expect(await menu.getByRole("link").count()).to.equal(1);
    await menu.getByRole("searchbox").fill("none of them");
    await menu.getByText("None has this name.").waitFor();
  });
});
