import { expect } from "chai";
import { createClient, Producer, type RelayClient } from "../../../packages/client/src/index.ts";
import { dashboardStage, signIn, type Visit } from "../../support/dashboard.ts";
import { eventReaches, openAccount, type Account } from "../../support/relay.ts";

describe("the names of things on the dashboard", () => {
  const stage = dashboardStage({ env: { RELAY_RETRY_SCHEDULE: "1h" } });
  /** One more than the relay lists at once. */
  const count = 101;
  let account: Account;
  let owner: RelayClient;
  let seen: Visit;
  let deletedId: string;
  let goneUser: string;

  before(async () => {
    const { url } = stage.relay;
    account = await openAccount(url);
    const { email, password, tenantId } = account;
    const { accessToken } = await createClient({ url }).login({ email, password });
    owner = createClient({ url, token: accessToken });
    const [oldest, deleted] = [await destination("zz-oldest"), await destination("deleted")];
    for (let made = 1; made < count; made += 1) await destination(`shop-${made}`);
    const { apiKey } = await owner.createApiKey({ name: "till" });
    for (const { ingestToken } of [oldest, deleted]) {
      const { eventId } = await new Producer({ url, apiKey, tenantId, ingestToken }).post({ order: 1 });
      await eventReaches(account.owner, eventId, "WaitingRetry");
    }
    await owner.createSender({ name: "to the deleted", destinationUrlId: deleted.id });
    await owner.createSender({ name: "to the oldest", destinationUrlId: oldest.id });
    for (const { id } of [oldest, deleted]) await owner.cancelEvents({ destinationUrlId: id });
    deletedId = deleted.id;
    await owner.deleteDestination({ id: deletedId });
    const gone = await owner.createUser({ email: "gone@names.example", password, role: 1 });
    goneUser = gone.id;
    const { accessToken: theirs } = await createClient({ url }).login({ email: "gone@names.example", password });
    await createClient({ url, token: theirs }).createApiKey({ name: "made by one who left" });
    await owner.deleteUser({ id: goneUser });
  });
  beforeEach(async () => {
    seen = await stage.visit();
    await seen.go("/login");
    await signIn(seen, account);
  });

  function destination(name: string) {
    return owner.createDestination({ url: `https://${name}.example/hook` });
  }

  const rows = () => seen.page.getByRole("listbox", { name: "Events" }).getByRole("option");

  it("are shown however many there are, and of a deleted thing its id", async () => {
    const { page } = seen;
    await seen.go("/events");
    await rows().filter({ hasText: "zz-oldest.example/hook" }).waitFor();
    await rows().filter({ hasText: deletedId }).waitFor();
    await page.getByRole("button", { name: "Destination", exact: true }).click();
    await page.getByRole("searchbox", { name: "Search" }).fill("zz-old");
    await page.getByRole("button", { name: "zz-oldest.example/hook" }).click();
    await page.getByText("1 event", { exact: true }).waitFor();
    await seen.go("/senders");
    await page.getByRole("link", { name: "https://zz-oldest.example/hook" }).waitFor();
    await page.getByRole("link", { name: deletedId }).waitFor();
    await seen.go("/operations?kind=cancel");
    await page.getByText(/for https:\/\/zz-oldest\.example\/hook/).waitFor();
    await page.getByText(new RegExp(`for ${deletedId}`)).waitFor();
    await page.keyboard.press("Control+k");
    await page.keyboard.type("zz-old");
    await page.getByRole("option", { name: "Destination https://zz-oldest.example/hook", selected: true }).waitFor();
  });

  it("are read once for all pages", async () => {
    const { page } = seen;
    await seen.go("/events");
    await rows().filter({ hasText: "zz-oldest.example/hook" }).waitFor();
    const asked: string[] = [];
    page.on("request", (request) => asked.push(request.url()));
    await page.getByRole("link", { name: "Operations" }).click();
    await page.getByRole("button", { name: "Cancels" }).click();
    await page.getByText(/for https:\/\/zz-oldest\.example\/hook/).waitFor();
    await page.getByRole("button", { name: "New operation…" }).click();
    await page.getByLabel("Destination", { exact: true }).selectOption({ label: "https://zz-oldest.example/hook" });
    await page.goBack();
    await page.getByRole("link", { name: "Senders" }).click();
    await page.getByRole("link", { name: "https://zz-oldest.example/hook" }).waitFor();
    expect(asked.filter((url) => url.includes("/api/v1/destinations"))).to.deep.equal([]);
    expect(asked.some((url) => url.includes("/api/v1/senders"))).to.equal(true);
  });

  it("of people are their emails, and of deleted people their ids", async () => {
    const { page } = seen;
    await seen.go("/audit");
    await page.getByText(`${account.email} deleted a user`).waitFor();
    await page.getByText(`user ${goneUser} created`).first().waitFor();
  });

  it("of others are their ids for callers without the right to list people, and their own is known", async () => {
    const { page } = seen;
    await owner.updateTenant({ id: account.tenantId }, { maxTrys: 4 });
    const me = await owner.getMe();
    await page.route("**/api/v1/me", (route) => route.fulfill({
      json: { ...me, operations: me.operations.filter((operation) => operation !== "listUsers") },
    }));
    await seen.go("/audit");
    await page.getByText(`${account.email} deleted a user`).waitFor();
    await seen.go("/settings");
    await page.getByRole("region", { name: "Changes" }).getByText(account.email).first().waitFor();
  });
});
