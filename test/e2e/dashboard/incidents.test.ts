import { expect } from "chai";
import type { Locator } from "playwright-core";
import { dashboardStage, signIn, type Visit } from "../../support/dashboard.ts";
import { eventReaches, eventually, openAccount, type Account } from "../../support/relay.ts";

describe("the dashboard's incidents", () => {
  const stage = dashboardStage({ receiver: {} });
  let account: Account;
  let seen: Visit;
  before(() => {
    stage.receiver.on("/moved", () => ({ status: 404, body: "It moved to /v2" }));
  });
  beforeEach(async () => {
    account = await openAccount(stage.relay.url, { maxTrys: 2, circuitBreakerTimer: 600 });
    seen = await stage.visit();
  });

  /** Points a working destination to a URL that fails, and posts an event that is given up. */
  const break_ = async () => {
    const { id, ingest } = await account.destination({ url: stage.receiver.url("/v1") });
    await account.owner.patch(`/api/v1/destinations/${id}`, { url: stage.receiver.url("/moved") });
    const { eventId } = await account.producer.post(ingest, { order: 1 }) as { readonly eventId: string };
    await eventReaches(account.owner, eventId, "CriticalFailure");
    await eventually(() => account.owner.get(`/api/v1/destinations/${id}`), ({ status }) => status === "Suspended");
    return { id, eventId };
  };
  const open = async (path: string) => {
    await seen.go(path);
    await signIn(seen, account);
    return seen.page;
  };
  /** Clicks, and counts that. */
  const counter = () => {
    let clicks = 0;
    const click = async (target: Locator) => {
      clicks += 1;
      await target.click();
    };
    return { click, count: () => clicks };
  };

  it("tell that there is none", async () => {
    const page = await open("/incidents");
    await page.getByText("No incidents.").waitFor();
    await page.getByLabel("State").selectOption("open");
    await page.getByText("No incident is open.").waitFor();
    await page.getByRole("button", { name: "Show all" }).click();
    await page.getByText("No incidents.").waitFor();
  });

  it("lead in 5 clicks on one page from why to replayed: new URL, tested, circuit closed, replayed", async () => {
    const { id, eventId } = await break_();
    const page = await open("/incidents");
    await page.getByRole("row", { name: /Answered 404/ }).getByRole("link").click();
    const why = page.getByRole("region", { name: "Why it failed" });
    await why.getByText("Answered 404").waitFor();
    const address = page.url();
    const { click, count } = counter();
    const step = (name: string) => page.getByRole("listitem", { name });

    await step("Change the URL").getByLabel("URL").fill(stage.receiver.url("/v2"));
    await click(step("Change the URL").getByRole("button", { name: "Save the URL" }));
    await step("Change the URL").getByText("Saved.").waitFor();
    await click(step("Send a test event").getByRole("button", { name: "Send test event" }));
    await step("Send a test event").getByText("answered 200").waitFor();
    await click(step("Close the circuit").getByRole("button", { name: "Close circuit" }));
    await step("Close the circuit").getByText("Deliveries go.").waitFor();
    await click(step("Replay what failed").getByRole("button", { name: "Replay 1 event…" }));
    await click(page.getByRole("dialog", { name: "Replay 1 event" }).getByRole("button", { name: "Replay" }));
    await step("Replay what failed").getByText("1 of 1 event sent again").waitFor();

    expect(count()).to.equal(5);
    expect(page.url()).to.equal(address);
    await eventReaches(account.owner, eventId, "Succeeded");
    await page.getByText("Over", { exact: true }).waitFor();
    await page.locator("dl").getByText("Delivered").waitFor();
    expect(stage.receiver.requestsTo("/v2").map(({ headers }) => headers["x-relay-test"] ?? null))
      .to.deep.equal(["true", null]);
    expect(await account.owner.get(`/api/v1/destinations/${id}`)).to.include({ status: "Active" });
  });

  it("tell in 2 clicks who changed the URL, from what to what", async () => {
    await break_();
    const page = await open("/");
    const { click, count } = counter();
    await click(page.getByRole("link", { name: /^Incidents.*1$/ }));
    await click(page.getByRole("row", { name: /Answered 404/ }).getByRole("link"));
    const before = page.getByRole("region", { name: "What changed before" });
    const change = before.getByRole("listitem").filter({ hasText: "changed the URL" });
    await change.getByText(account.email).waitFor();
    expect(await change.locator("del").textContent()).to.equal(stage.receiver.url("/v1"));
    expect(await change.locator("ins").textContent()).to.equal(stage.receiver.url("/moved"));
    await change.getByText(/(less than 1|\d) s before$/).waitFor();
    expect(count()).to.equal(2);
  });

  it("say by whose deletion of the destination they ended", async () => {
    const { id } = await break_();
    await account.owner.delete(`/api/v1/destinations/${id}`);
    const page = await open("/incidents?State=over");
    await page.getByRole("row", { name: /Over/ }).getByRole("link").click();
    await page.getByText(`${account.email} deleted the destination`).waitFor();
    expect(await page.getByRole("region", { name: "Repair" }).count()).to.equal(0);
  });
});
