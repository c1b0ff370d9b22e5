import { expect } from "chai";
import { createUser, login, password, type Client } from "../../support/accounts.ts";
import { axeViolations } from "../../support/axe.ts";
import { dashboardStage, signIn } from "../../support/dashboard.ts";
import { openAccount, type Account } from "../../support/relay.ts";

describe("the dashboard's subscriptions", () => {
  const stage = dashboardStage({ receiver: {} });
  let account: Account;
  let owner: Client;
  before(async () => {
    account = await openAccount(stage.relay.url);
    owner = await login(stage.relay.url, account.email);
  });

  const open = async (path: string, person: { readonly email: string; readonly password: string } = account) => {
    const seen = await stage.visit();
    await seen.go(path);
    await signIn(seen, person);
    return seen.page;
  };
  const named = async (name: string) =>
    (await account.destination({ url: stage.receiver.url(`/${encodeURIComponent(name)}`), name })).id;

  it("belong to a new sender that fans out, and are made, changed, switched off and deleted there", async () => {
    const destinationUrlId = await named("Warehouse");
    const page = await open("/senders?new=sender");
    const making = page.getByRole("dialog", { name: "New sender" });
    await making.getByLabel("Name").fill("Billing");
    await making.getByLabel("Delivers to").selectOption("yes");
    await making.getByLabel("Event type in the body (optional)").fill("/type");
    await making.getByLabel("Messages that no subscription matches").selectOption("refuse");
    await making.getByRole("button", { name: "Create" }).click();
    await page.getByRole("button", { name: "I have stored it" }).click();
    await page.getByText("its messages reach no destination").waitFor();
    const [sender] = (await owner.api.listSenders({ Qt: 10 })).items;
    expect(sender).to.include({ name: "Billing", fanOut: true, eventTypePath: "/type", unmatched: "refuse" });

    await page.getByRole("button", { name: "New subscription…" }).first().click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Destination").selectOption(destinationUrlId);
    await dialog.getByLabel("Owner (optional)").fill("customer-42");
    await dialog.getByLabel("Event types (optional)").fill("invoice.*\nrefund.paid");
    expect(await axeViolations(page)).to.deep.equal([]);
    const filter = dialog.getByLabel("Filter (optional), JSON");
    await filter.fill("{");
    await dialog.getByRole("button", { name: "Subscribe" }).click();
    await dialog.getByRole("alert").filter({ hasText: "The filter is not JSON" }).waitFor();
    await filter.fill('{"data": {"amount": {"$gte": {}}}}');
    await dialog.getByRole("button", { name: "Subscribe" }).click();
    await dialog.getByRole("alert").filter({ hasText: "filter.data.amount.$gte" }).waitFor();
    expect(await filter.getAttribute("aria-invalid")).to.equal("true");
    await filter.fill('{"data": {"amount": {"$gte": 100}}}');
    await dialog.getByRole("button", { name: "Subscribe" }).click();
    const row = page.getByRole("row").filter({ hasText: "Warehouse" });
    for (const text of ["customer-42", "invoice.*", '{"data":{"amount":{"$gte":100}}}', "Active"]) {
      await row.getByText(text, { exact: true }).waitFor();
    }

    const which = "the subscription of Warehouse for customer-42";
    await page.getByRole("button", { name: `Change ${which}…` }).click();
    await dialog.getByLabel("Filter (optional), JSON").fill("");
    await dialog.getByLabel("Mapping (optional), JMESPath").fill("{total: data.amount}");
    await dialog.getByRole("button", { name: "Save" }).click();
    await row.getByText("no filter").waitFor();
    await page.getByRole("button", { name: `Switch off: ${which}` }).click();
    await row.getByText("Inactive").waitFor();
    const [kept] = (await owner.api.listSubscriptions()).items;
    expect(kept).to.deep.include({
      destinationUrlId, ownerId: "customer-42", eventTypes: ["invoice.*", "refund.paid"], filter: null,
      mapping: { language: "jmespath", expression: "{total: data.amount}" }, status: "Inactive",
    });
    await page.getByRole("button", { name: `Delete ${which}…` }).click();
    await dialog.getByRole("button", { name: "Delete it" }).click();
    await row.waitFor({ state: "detached" });
    expect((await owner.api.listSubscriptions()).items).to.deep.equal([]);
  });

  it("tell which of them would get a message, with its payload, and why the others would not", async () => {
    const { id: senderId } = await owner.api.createSender({ name: "Shop", fanOut: true });
    const [large, refunds, broken] = [await named("Large"), await named("Refunds"), await named("Broken")];
    await owner.api.createSubscription({
      senderId, destinationUrlId: large, filter: { data: { amount: { $gte: 100 } } },
      mapping: { language: "jmespath", expression: "{total: data.amount}" },
    });
    await owner.api.createSubscription({ senderId, destinationUrlId: refunds, eventTypes: ["refund.*"] });
    await owner.api.createSubscription({
      senderId, destinationUrlId: broken, mapping: { language: "jmespath", expression: "data.amount" },
    });
    const viewer = await createUser(owner, "viewer");
    const page = await open(`/senders/${senderId}`, { email: viewer.email, password });
    expect(await page.getByRole("button", { name: /subscription/ }).count()).to.equal(0);
    await page.getByText("Developers, Admins and Owners subscribe destinations.").waitFor();
    const trial = page.getByRole("region", { name: "Who would get this?" });
    const result = trial.getByRole("status", { name: "Its deliveries" });
    await trial.getByLabel("Payload").fill("[]");
    await trial.getByRole("button", { name: "Try it" }).click();
    await trial.getByRole("alert").filter({ hasText: "payload" }).waitFor();
    await trial.getByLabel("Payload").fill('{"amount": 120}');
    await trial.getByLabel("Event type (optional)").fill("invoice.paid");
    await trial.getByRole("button", { name: "Try it" }).click();
    await result.getByRole("heading", { name: "2 destinations" }).waitFor();
    await result.getByText('"total"').waitFor();
    await result.getByText("Its mapping fails, so this delivery would fail").waitFor();
    await result.getByRole("listitem").filter({ hasText: "Refunds" }).getByText("it does not name the event type")
      .waitFor();
    expect(await axeViolations(page)).to.deep.equal([]);
    expect((await owner.api.listEvents({ Qt: 1 })).items).to.deep.equal([]);
  });
});
