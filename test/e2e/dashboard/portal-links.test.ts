import { expect } from "chai";
import { createUser, login, password, type Client } from "../../support/accounts.ts";
import { axeViolations } from "../../support/axe.ts";
import { atLocalhost, dashboardStage, signIn } from "../../support/dashboard.ts";
import { openAccount, type Account } from "../../support/relay.ts";

describe("the dashboard's portal links", () => {
  const stage = dashboardStage({ receiver: {} });
  let account: Account;
  let owner: Client;
  before(async () => {
    account = await openAccount(stage.relay.url);
    owner = await login(stage.relay.url, account.email);
  });

  it("are created for a customer or for destinations, open the portal once, and are ended", async () => {
    const { id } = await account.destination({ url: stage.receiver.url("/shop"), name: "Shop" });
    await account.destination({ url: stage.receiver.url("/owned"), ownerId: "customer-12", name: "Owned" });
    const seen = await stage.visit();
    const { page } = seen;
    await seen.go("/settings?tab=portal");
    await signIn(seen, account);
    await page.getByText("Nobody is in the portal").waitFor();
    await page.getByRole("button", { name: "New portal link…" }).first().click();
    const dialog = page.getByRole("dialog", { name: "New portal link" });
    await dialog.getByRole("textbox", { name: "Customer" }).fill("customer-12");
    await dialog.getByRole("checkbox", { name: "replay" }).check();
    await dialog.getByLabel("Way back (optional)").fill("ftp://example.com");
    expect(await axeViolations(page)).to.deep.equal([]);
    await dialog.getByRole("button", { name: "Create the link" }).click();
    await dialog.getByRole("alert").filter({ hasText: "returnUrl" }).waitFor();
    await dialog.getByLabel("Way back (optional)").fill("");
    await dialog.getByRole("button", { name: "Create the link" }).click();
    const shown = page.getByRole("dialog", { name: "The portal link" });
    const url = await shown.getByRole("link", { name: "Open it in a new tab" }).getAttribute("href");
    expect(await axeViolations(page)).to.deep.equal([]);
    const row = page.getByRole("row").filter({ hasText: "customer-12" });
    await row.getByText("not opened").waitFor();
    const customer = await stage.visit();
    await customer.page.goto(atLocalhost(url!));
    await customer.page.getByRole("link", { name: "Destinations" }).click();
    await customer.page.getByRole("link", { name: "Owned" }).waitFor();
    expect(await customer.page.getByRole("link", { name: "Shop" }).count()).to.equal(0);
    await shown.getByRole("button", { name: "I have stored it" }).click();
    await page.reload();
    await row.getByText("ends in").waitFor();
    expect(await axeViolations(page)).to.deep.equal([]);
    await row.getByRole("button", { name: "End the link for customer-12…" }).click();
    await page.getByRole("button", { name: "End it" }).click();
    await row.waitFor({ state: "detached" });
    await customer.page.getByRole("link", { name: "Events" }).click();
    await customer.page.getByRole("heading", { name: "This link is over" }).waitFor();

    await page.getByRole("button", { name: "New portal link…" }).first().click();
    await dialog.getByRole("combobox", { name: "For" }).selectOption("destinations");
    await dialog.getByRole("checkbox", { name: "Shop" }).check();
    await dialog.getByLabel("Label").fill("A partner");
    await dialog.getByRole("button", { name: "Create the link" }).click();
    await shown.waitFor();
    const { items } = await owner.api.listPortalLinks();
    expect(items.map(({ label, may, destinationUrlIds }) => ({ label, may, destinationUrlIds })))
      .to.deep.equal([{ label: "A partner", may: ["read"], destinationUrlIds: [id] }]);
  });

  it("are for Admins and Owners, whom a line names to others", async () => {
    const developer = await createUser(owner, "developer");
    const seen = await stage.visit();
    await seen.go("/settings?tab=portal");
    await signIn(seen, { email: developer.email, password });
    await seen.page.getByText("Admins and Owners see and create links to the portal.").waitFor();
    expect(await seen.page.getByRole("button", { name: "New portal link…" }).count()).to.equal(0);
  });
});
