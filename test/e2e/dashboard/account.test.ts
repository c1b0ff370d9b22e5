import { expect } from "chai";
import { createClient, RelayError } from "../../../packages/client/src/index.ts";
import { dashboardStage, signIn, type Visit } from "../../support/dashboard.ts";
import { openAccount, type Account } from "../../support/relay.ts";

describe("the page of one's own account", () => {
  const stage = dashboardStage();
  let account: Account;
  let seen: Visit;
  beforeEach(async () => {
    account = await openAccount(stage.relay.url);
    seen = await stage.visit();
    await seen.go("/");
    await signIn(seen, account);
    await seen.page.getByRole("button", { name: "Account and preferences" }).click();
    await seen.page.getByRole("link", { name: "Account", exact: true }).click();
    await seen.page.getByRole("heading", { name: "Account" }).waitFor();
  });

  const session = () => seen.page.getByRole("region", { name: "This session" });

  it("changes the password, says a refused one at its field, and keeps the session", async () => {
    const { page } = seen;
    const fill = async (current: string, next: string) => {
      await page.getByLabel("Current password").fill(current);
      await page.getByLabel("New password").fill(next);
      await page.getByRole("button", { name: "Change password" }).click();
    };
    await fill("not the password", "another good password");
    await page.getByText("currentPassword: is wrong").waitFor();
    expect(await page.getByLabel("Current password").getAttribute("aria-invalid")).to.equal("true");
    await fill(account.password, "short");
    await page.getByText(/^newPassword: /).waitFor();
    expect(await page.getByLabel("New password").getAttribute("aria-invalid")).to.equal("true");
    await fill(account.password, "another good password");
    await page.getByText("The new password holds.").waitFor();
    expect(await page.getByLabel("New password").inputValue()).to.equal("");
    await page.reload();
    await session().getByText(account.email).waitFor();
    const client = createClient({ url: stage.relay.url });
    const { email, password } = account;
    const refused = await client.login({ email, password }).catch((error: unknown) => error);
    expect(refused).to.be.instanceOf(RelayError).and.to.include({ status: 401 });
    await client.login({ email, password: "another good password" });
  });

  it("shows the session, and takes preferences that the menu has, too", async () => {
    const { page } = seen;
    for (const text of [account.email, "Owner"]) await session().getByText(text, { exact: true }).waitFor();
    await page.getByRole("region", { name: "Preferences" }).getByLabel("Theme").selectOption("dark");
    expect(await page.evaluate("document.documentElement.style.colorScheme")).to.equal("dark");
  });
});
