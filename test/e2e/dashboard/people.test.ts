import { expect } from "chai";
import { createTenant, createUser, freshEmail, password } from "../../support/accounts.ts";
import { countClicks } from "../../support/clicks.ts";
import { dashboardStage, signIn, type Visit } from "../../support/dashboard.ts";

describe("the dashboard's people", () => {
  const stage = dashboardStage();
  let tenant: Awaited<ReturnType<typeof createTenant>>;
  before(async () => {
    tenant = await createTenant(stage.relay.url);
    await stage.browser.context.grantPermissions(["clipboard-read", "clipboard-write"], { origin: stage.origin });
  });

  async function visitAt(path: string): Promise<Visit> {
    const seen = await stage.visit();
    await seen.go(path);
    return seen;
  }

  async function visitAsOwner(path: string): Promise<Visit> {
    const seen = await visitAt(path);
    await signIn(seen, { email: tenant.owner.email, password });
    return seen;
  }

  it("invites by a link whose token leaves the address, sets the password, and signs in", async () => {
    const { page } = await visitAsOwner("/people?tab=invites");
    const email = freshEmail();
    const clicks = await countClicks(page);
    await page.getByRole("button", { name: "Invite…" }).first().click();
    await page.getByLabel("Email").fill(email);
    await page.getByLabel("Role", { exact: true }).selectOption("Developer");
    await page.getByRole("button", { name: "Invite", exact: true }).click();
    await page.getByRole("button", { name: "Copy the secret" }).click();
    await page.getByRole("button", { name: "Copied" }).waitFor();
    expect(await clicks(), "A colleague invited").to.equal(3);
    const link = await page.locator("dialog p:has(button) code").innerText();
    expect(link.startsWith(`${stage.origin}/app/register#token=inv_`)).to.equal(true);
    await page.getByRole("button", { name: "I have stored it" }).click();
    await page.getByRole("row").filter({ hasText: email }).getByText("Pending").waitFor();

    await stage.browser.context.clearCookies();
    const invited = await visitAt("/login");
    const asked: string[] = [];
    invited.page.on("request", (request) => asked.push(new URL(request.url()).pathname));
    await invited.page.goto(link);
    await invited.page.getByLabel("Password").fill(password);
    expect(invited.page.url()).to.equal(`${stage.origin}/app/register`);
    expect(asked.filter((path) => path.includes("inv_"))).to.deep.equal([]);
    await invited.page.getByLabel("The same again").fill("not the same");
    await invited.page.getByRole("button", { name: "Set the password" }).click();
    expect(await invited.page.getByRole("alert").textContent()).to.equal("The two passwords differ.");
    await invited.page.getByLabel("The same again").fill(password);
    await invited.page.getByRole("button", { name: "Set the password" }).click();
    await invited.page.getByRole("button", { name: "Account and preferences" }).waitFor();

    const again = await visitAt("/login");
    await again.page.goto(link);
    await again.page.getByLabel("Password").fill(password);
    await again.page.getByLabel("The same again").fill(password);
    await again.page.getByRole("button", { name: "Set the password" }).click();
    await again.page.getByRole("alert").waitFor();
  });

  it("revokes an invite", async () => {
    const email = freshEmail();
    await tenant.owner.client.api.createInvite({ email, role: 20 });
    const { page } = await visitAsOwner("/people?tab=invites");
    await page.getByRole("button", { name: `Revoke the invite of ${email}…` }).click();
    await page.getByRole("button", { name: "Revoke", exact: true }).click();
    await page.getByRole("row").filter({ hasText: email }).getByText("Revoked").waitFor();
  });

  it("says that a link without its token has to be opened again", async () => {
    const { page } = await visitAt("/register");
    await page.getByText("Open the link of your invite once more").waitFor();
    expect(await page.getByLabel("Password").count()).to.equal(0);
  });

  it("changes the role of another, deactivates and deletes them, and offers nothing of it for oneself", async () => {
    const { email } = await createUser(tenant.owner.client, "viewer");
    const { page } = await visitAsOwner("/people");
    const row = page.getByRole("row").filter({ hasText: email });
    const choose = async (act: string) => {
      await row.getByRole("button", { name: `Change ${email}` }).click();
      await page.getByRole("group", { name: `Changes of ${email}` }).getByRole("button", { name: act }).click();
    };
    await choose("Change role…");
    await page.getByLabel("Role", { exact: true }).selectOption("Admin");
    await page.getByRole("button", { name: "Change role", exact: true }).click();
    await row.getByText("Admin").waitFor();
    await choose("Deactivate…");
    await page.getByRole("button", { name: "Deactivate", exact: true }).click();
    await row.getByText("Inactive", { exact: true }).waitFor();
    await choose("Activate…");
    await page.getByRole("button", { name: "Activate", exact: true }).click();
    await row.getByText("Active", { exact: true }).waitFor();
    await choose("Delete…");
    await page.getByRole("button", { name: "Delete", exact: true }).click();
    await row.waitFor({ state: "detached" });
    const own = page.getByRole("row").filter({ hasText: tenant.owner.email });
    expect(await own.getByRole("button").count()).to.equal(0);
  });
});
