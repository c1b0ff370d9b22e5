import { expect } from "chai";
import { createUser, login, password, type Client } from "../../support/accounts.ts";
import { axeViolations } from "../../support/axe.ts";
import { dashboardStage, signIn } from "../../support/dashboard.ts";
import { openAccount, type Account } from "../../support/relay.ts";

describe("the dashboard's notifications", () => {
  const stage = dashboardStage({ receiver: {} });
  let account: Account;
  let owner: Client;
  before(async () => {
    account = await openAccount(stage.relay.url);
    owner = await login(stage.relay.url, account.email);
  });

  it("subscribe a destination to some types, say the meaning of each, and end a subscription", async () => {
    const { id } = await account.destination({ url: stage.receiver.url("/on-call"), name: "On call" });
    const seen = await stage.visit();
    const { page } = seen;
    await seen.go("/settings");
    await signIn(seen, account);
    await page.getByRole("button", { name: "Notifications" }).click();
    expect(new URL(page.url()).searchParams.get("tab")).to.equal("notifications");
    await page.getByText("No destination gets notifications").waitFor();
    expect(await page.getByRole("term").count()).to.equal(6);

    await page.getByRole("button", { name: "New subscription…" }).first().click();
    const dialog = page.getByRole("dialog", { name: "New subscription" });
    await dialog.getByLabel("Sent to").selectOption(id);
    expect(await axeViolations(page)).to.deep.equal([]);
    const types = await dialog.getByRole("checkbox").all();
    expect(types).to.have.length(6);
    for (const type of types) await type.uncheck();
    await dialog.getByRole("button", { name: "Subscribe" }).click();
    await dialog.getByText("Choose at least one type.").waitFor();
    await dialog.getByRole("checkbox", { name: "destination.suspended" }).check();
    await dialog.getByRole("checkbox", { name: "event.exhausted" }).check();
    await dialog.getByRole("button", { name: "Subscribe" }).click();

    const row = page.getByRole("row").filter({ hasText: "On call" });
    await row.getByText("event.exhausted").waitFor();
    const { items } = await owner.api.listNotificationSubscriptions();
    expect(items.map(({ destinationUrlId, types: chosen }) => [destinationUrlId, chosen]))
      .to.deep.equal([[id, ["destination.suspended", "event.exhausted"]]]);
    await page.getByRole("button", { name: "Delete the subscription of On call…" }).click();
    await page.getByRole("dialog", { name: "Delete the subscription?" }).getByRole("button", { name: "Delete it" })
      .click();
    await row.waitFor({ state: "detached" });
    expect((await owner.api.listNotificationSubscriptions()).items).to.deep.equal([]);
  });

  it("are shown to a Viewer without acts, with a line about the roles that can help", async () => {
    const { id } = await account.destination({ url: stage.receiver.url("/shown"), name: "Shown" });
    await owner.api.createNotificationSubscription({ destinationUrlId: id, types: ["destination.failing"] });
    const viewer = await createUser(owner, "viewer");
    const seen = await stage.visit();
    await seen.go("/settings?tab=notifications");
    await signIn(seen, { email: viewer.email, password });
    const section = seen.page.getByRole("region", { name: "Notifications" });
    await section.getByRole("row").filter({ hasText: "Shown" }).getByText("destination.failing").waitFor();
    expect(await section.getByRole("button").count()).to.equal(0);
    await section.getByText("Developers, Admins and Owners subscribe destinations").waitFor();
  });
});
