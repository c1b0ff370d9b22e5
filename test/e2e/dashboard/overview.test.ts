import { expect } from "chai";
import { createUser, login, password } from "../../support/accounts.ts";
import { dashboardStage, signIn, type Visit } from "../../support/dashboard.ts";
import { eventReaches, openAccount, type Account } from "../../support/relay.ts";

describe("the dashboard's overview, operations and settings", () => {
  const stage = dashboardStage({ receiver: {} });
  let account: Account;
  let bad: { readonly id: string; readonly ingest: string };
  let good: { readonly id: string; readonly ingest: string };
  let givenUp: string;
  let seen: Visit;
  before(async () => {
    stage.receiver.on("/bad", () => ({ status: 500 }));
    account = await openAccount(stage.relay.url, { maxTrys: 2 });
    bad = await account.destination({ url: stage.receiver.url("/bad") });
    good = await account.destination({ url: stage.receiver.url("/good") });
    const posted = await account.producer.post(bad.ingest, { order: 1 });
    givenUp = String(posted["eventId"]);
    await eventReaches(account.owner, givenUp, "CriticalFailure");
    const delivered = await account.producer.post(good.ingest, { order: 2 });
    await eventReaches(account.owner, String(delivered["eventId"]), "Succeeded");
    const refused = await fetch(stage.relay.url + bad.ingest, { method: "POST", body: "{}" });
    expect(refused.status).to.equal(401);
  });
  beforeEach(async () => {
    seen = await stage.visit();
  });

  const open = async (path: string, person: { readonly email: string; readonly password: string } = account) => {
    await seen.go(path);
    await signIn(seen, person);
    return seen.page;
  };

  it("shows an open incident, a given-up event and refused posts first, and leads to each", async () => {
    const page = await open("/");
    const needs = page.getByRole("region", { name: "Needs a person" });
    await needs.getByRole("listitem").first().filter({ hasText: /^Failing: .*bad.*Answered 500/ }).waitFor();
    await needs.getByRole("link", { name: "1 event of the last 24 h failed" }).click();
    await page.waitForURL(/\/app\/events\?Status=CriticalFailure&From=/);
    await page.goBack();
    await needs.getByRole("link", { name: /^Failing: / }).click();
    await page.getByRole("heading", { name: /^Incident: / }).waitFor();
    await page.goBack();
    await needs.getByRole("link", { name: "1 post was refused in the last 24 h" }).click();
    await page.getByRole("region", { name: "Refused posts" }).getByText("401", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Close" }).click();

    const totals = page.getByRole("region", { name: "Totals" });
    expect(await totals.getByRole("link", { name: /Failed/ }).textContent()).to.match(/^1/);
    const traffic = page.getByRole("region", { name: "Traffic of 24 hours" });
    await traffic.locator("dl > div", { hasText: "Accepted events" }).getByText("2", { exact: true }).waitFor();
    const byDestination = traffic.getByRole("table", { name: "By destination" });
    await byDestination.getByRole("row", { name: /\/bad.* 0 %/ }).waitFor();
    await byDestination.getByRole("row", { name: /\/good.* 100 %/ }).waitFor();
    await traffic.getByText("The same as a table").click();
    await traffic.getByRole("row").nth(1).waitFor();
  });

  it("replays given-up events to another destination: counted, confirmed, finished", async () => {
    const page = await open("/operations");
    await page.getByText("No replay yet.").waitFor();
    await page.getByRole("button", { name: "New operation…" }).click();
    await page.getByLabel("Destination", { exact: true }).selectOption(bad.id);
    await page.getByLabel("Tags").fill("wrong");
    await page.getByRole("button", { name: "Count", exact: true }).click();
    expect(await page.getByRole("alert").textContent()).to.match(/^tags: /);
    await page.getByLabel("Tags").fill("order:1, shop:2");
    await page.getByLabel("Owner").fill("nobody");
    await page.getByLabel("Finished up to, UTC").fill("2001-02-03 04:05");
    await page.getByRole("button", { name: "Count", exact: true }).click();
    await page.getByText(/^Nothing matches: .* of the owner nobody with order:1, shop:2 finished up to 2001/).waitFor();
    for (const label of ["Tags", "Owner", "Finished up to, UTC"]) await page.getByLabel(label).fill("");
    await page.getByLabel("Send to").selectOption(good.id);
    await page.getByRole("button", { name: "Count", exact: true }).click();
    const confirm = page.getByRole("dialog", { name: "Replay: 1 event" });
    await confirm.getByText(`Events in Failed for ${stage.receiver.url("/bad")}`).waitFor();
    await confirm.getByText(`Each is sent to ${stage.receiver.url("/good")}, as a new event.`).waitFor();
    expect(await confirm.getByRole("button", { name: "Replay" }).isDisabled()).to.equal(true);
    await confirm.getByRole("textbox").fill("1");
    await confirm.getByRole("button", { name: "Replay" }).click();
    const row = page.getByRole("region", { name: "Replays" }).getByRole("listitem");
    await row.getByText("Finished").waitFor();
    await row.getByText("1 sent again").waitFor();
    expect(await row.textContent()).to.include("1 matched").and.include(account.email);
    await stage.receiver.waitFor(() => stage.receiver.requestsTo("/good").length === 2);
    expect((await account.owner.get(`/api/v1/events/${givenUp}`))["status"]).to.equal("CriticalFailure");
  });

  it("stops a running replay", async () => {
    const page = await open("/operations");
    await account.owner.post("/api/v1/replays", { status: "Succeeded", perSecond: 0.1 });
    await page.reload();
    const newest = page.getByRole("region", { name: "Replays" }).getByRole("listitem").first();
    await newest.getByRole("button", { name: "Stop…" }).click();
    await page.getByRole("button", { name: "Stop it" }).click();
    await newest.getByText("Cancelled").waitFor();
  });

  it("purges by the number of events that the person types", async () => {
    const page = await open(`/operations?kind=purge&new=purge&destinationUrlId=${good.id}&status=Succeeded`);
    await page.getByRole("button", { name: "Count", exact: true }).click();
    const confirm = page.getByRole("dialog", { name: /^Purge: \d+ events$/ });
    const [number = ""] = /\d+/.exec(await confirm.getByRole("heading").textContent() ?? "") ?? [];
    await confirm.getByRole("textbox").fill(`${number}0`);
    expect(await confirm.getByRole("button", { name: "Purge" }).isDisabled()).to.equal(true);
    await confirm.getByRole("textbox").fill(number);
    await confirm.getByRole("button", { name: "Purge" }).click();
    const row = page.getByRole("region", { name: "Purges" }).getByRole("listitem");
    await row.getByText(`${number} purged`).waitFor();
    expect(await row.textContent()).to.include(`Events in Delivered for ${stage.receiver.url("/good")}`);
  });

  it("says at its field which setting the relay refuses, saves changes, and lists them", async () => {
    const page = await open("/settings");
    const tries = page.getByLabel("Tries");
    await tries.fill("0");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("alert").waitFor();
    expect(await tries.getAttribute("aria-invalid")).to.equal("true");
    expect(await page.getByRole("alert").textContent()).to.match(/^maxTrys: /);
    await tries.fill("3");
    await page.getByLabel("Retention, days").fill("30");
    await page.getByRole("button", { name: "Save" }).click();
    const question = page.getByRole("dialog", { name: "Shorten the retention?" });
    await question.getByText("No finished event is older than 30 days yet.").waitFor();
    await question.getByRole("button", { name: "Keep as it is" }).click();
    expect(await account.owner.get(`/api/v1/tenants/${account.tenantId}`)).to.include({ retentionDays: null });
    await page.getByRole("button", { name: "Save" }).click();
    await question.getByRole("button", { name: "Save" }).click();
    await page.getByText("Saved.").waitFor();
    const changes = page.getByRole("region", { name: "Changes" }).getByRole("listitem");
    await changes.getByText("Retention").first().waitFor();
    expect(await page.getByRole("region", { name: "Changes" }).textContent())
      .to.include("Tries 2 → 3").and.include("Retention kept until purged → 30 days").and.include(account.email);
    expect(await account.owner.get(`/api/v1/tenants/${account.tenantId}`))
      .to.include({ maxTrys: 3, retentionDays: 30 });
    await tries.fill("2");
    await page.getByRole("button", { name: "Save" }).click();
    const fewer = page.getByRole("dialog", { name: "Allow fewer tries?" });
    await fewer.getByText("failed 2 times or more fail for good at their next failure").waitFor();
    await fewer.getByRole("button", { name: "Save" }).click();
    await page.getByText("Saved.").waitFor();
    expect(await account.owner.get(`/api/v1/tenants/${account.tenantId}`)).to.include({ maxTrys: 2 });
  });

  it("shows a Viewer no act on any of these pages", async () => {
    const owner = await login(stage.relay.url, account.email);
    const { email } = await createUser(owner, "viewer");
    const page = await open("/operations?new=purge", { email, password });
    await page.getByText("Developers and above can replay").waitFor();
    expect(await page.getByRole("dialog").count()).to.equal(0);
    expect(await page.getByRole("button", { name: /New operation|Stop/ }).count()).to.equal(0);
    await seen.go("/settings");
    await page.getByText("can change settings").waitFor();
    expect(await page.getByRole("button", { name: "Save" }).count()).to.equal(0);
    await seen.go("/");
    await page.getByRole("region", { name: "Totals" }).waitFor();
    expect(await page.getByRole("link", { name: "Replay them…" }).count()).to.equal(0);
    await seen.go("/start");
    await page.getByText(/steps done/).waitFor();
    expect(await page.getByRole("button", { name: /Create|New ingest token/ }).count()).to.equal(0);
  });
});
