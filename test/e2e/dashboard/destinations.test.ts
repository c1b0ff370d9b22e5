import { expect } from "chai";
import { createUser, login } from "../../support/accounts.ts";
import { dashboardStage, signIn, type Visit } from "../../support/dashboard.ts";
import { eventReaches, eventually, openAccount, type Account } from "../../support/relay.ts";

describe("the dashboard's destinations", () => {
  const stage = dashboardStage({ receiver: {} });
  let account: Account;
  let seen: Visit | undefined;
  const newAccount = () => openAccount(stage.relay.url, { maxTrys: 2, circuitBreakerTimer: 600 });
  before(async () => {
    stage.receiver.on("/down", () => ({ status: 500, body: "<b>down</b>" }));
    account = await newAccount();
  });

  const open = async (path: string, person: { readonly email: string; readonly password: string } = account) => {
    seen = await stage.visit();
    await seen.page.clock.install();
    await seen.go(path);
    await signIn(seen, person);
    return seen.page;
  };

  it("lead from a new one, with its address shown once, to a delivered test event", async () => {
    const [owner, path] = [await newAccount(), `/new/${crypto.randomUUID()}`];
    const page = await open("/destinations", owner);
    await page.getByText("There is none yet").waitFor();
    await page.getByRole("button", { name: "New destination…" }).first().click();
    await page.getByRole("textbox", { name: "URL", exact: true }).fill("http://no-tls.example/");
    await page.getByRole("button", { name: "Create destination" }).click();
    await page.getByRole("alert").waitFor();
    expect(await page.getByRole("textbox", { name: "URL", exact: true }).getAttribute("aria-invalid")).to.equal("true");
    await page.getByRole("textbox", { name: "URL", exact: true }).fill(stage.receiver.url(path));
    await page.getByLabel("Authentication").selectOption({ label: "Bearer token" });
    await page.getByLabel("Token", { exact: true }).fill("a-token");
    await page.getByRole("button", { name: "Create destination" }).click();
    const secret = page.getByRole("dialog", { name: "The destination's ingest token" });
    const token = await secret.locator("p code").textContent();
    expect(token).to.match(/^dst_/);
    expect(await secret.locator("pre").textContent())
      .to.include(`curl -X POST '${stage.origin}/api/v1/ingest/${owner.tenantId}/${token}'`);
    await secret.getByRole("button", { name: "I have stored it" }).click();
    await page.getByRole("button", { name: "Send test event…" }).click();
    await page.getByLabel("Event type").fill("test.ping");
    await page.getByRole("button", { name: "Send", exact: true }).click();
    const result = page.getByRole("status", { name: "What came of it" });
    await result.getByText("answered 200").waitFor();
    expect(stage.receiver.requestsTo(path).map(({ headers }) => [headers["x-relay-test"], headers.authorization]))
      .to.deep.equal([["true", "Bearer a-token"]]);
    await result.getByRole("link", { name: "Its story" }).click();
    await page.getByRole("heading", { name: "Event" }).first().waitFor();
  });

  it("show a suspended one with its countdown, its failures, and close its circuit", async () => {
    const { id, ingest } = await account.destination({ url: stage.receiver.url("/down") });
    const { eventId } = await account.producer.post(ingest, { n: 1 }) as { eventId: string };
    await eventReaches(account.owner, eventId, "CriticalFailure");
    await eventually(() => account.owner.get(`/api/v1/destinations/${id}`), ({ status }) => status === "Suspended");
    const page = await open("/destinations?Status=Suspended");
    const row = page.getByRole("row").filter({ hasText: "/down" });
    await row.getByText(/tried again in (9|10) min/).waitFor();
    await row.getByRole("img", { name: "2 attempts in 24 hours, 2 failed" }).waitFor();
    await row.getByText("0 %").waitFor();
    await row.getByRole("link", { name: "/down" }).click();
    await page.getByRole("heading", { name: "Failures by reason" }).waitFor();
    const health = { Waiting: /^0$/, "In flight": /^0$/, "Last success": /^–$/, "Last failure": /ago|just now/ };
    for (const [name, value] of Object.entries(health)) {
      await page.locator(`dl > div:has(dt:text-is("${name}")) > dd`).filter({ hasText: value }).first().waitFor();
    }
    expect(await page.getByRole("row", { name: /^Answered with an error 2/ }).count()).to.equal(1);
    const [attempts, percentiles] = [/: 0 succeeded, 2 failed$/, /: p50 .*, p95 .*, p99 \d+ ms$/];
    for (const [name, text] of [["Attempts", attempts], ["Percentiles", percentiles]] as const) {
      const chart = page.getByRole("slider", { name: `${name} over time` });
      for (const keys of ["End", "Shift+Home"]) await chart.press(keys);
      expect(await chart.getAttribute("aria-valuetext")).to.match(text);
    }
    await page.getByText("As a table").first().click();
    await page.getByRole("button", { name: "7 d" }).click();
    expect(new URL(page.url()).searchParams.get("range")).to.equal("7d");
    await page.getByRole("button", { name: "Circuit", exact: true }).click();
    await page.getByText(/^Circuit open until/).waitFor();
    await page.getByText("opened the circuit after 2 failed attempts in a row").waitFor();
    expect(await page.getByRole("link", { name: `event ${eventId}` }).count()).to.be.greaterThan(0);
    await page.getByRole("button", { name: "Close circuit" }).click();
    await page.getByText("Closed: deliveries go.").waitFor();
    await page.getByText(`${account.email} closed the circuit`).waitFor();
    await page.getByRole("button", { name: "Events", exact: true }).click();
    await page.getByRole("link", { name: eventId }).waitFor();
    expect(await page.getByRole("link", { name: "All its events" }).getAttribute("href"))
      .to.equal(`/app/events?DestinationUrlId=${id}`);
  });

  it("show failures in a row that a circuit counted as one line, which opens", async () => {
    const { id, ingest } = await account.destination({
      url: stage.receiver.url("/down"), circuit: { failures: 9, timer: 60 },
      retryPolicy: { schedule: ["10ms"], maxTrys: 3 },
    });
    const { eventId } = await account.producer.post(ingest, { n: 1 }) as { eventId: string };
    await eventReaches(account.owner, eventId, "CriticalFailure");
    const page = await open(`/destinations/${id}?tab=circuit`);
    const line = page.getByRole("listitem").filter({ hasText: "counts 3 failed attempts in a row" });
    const earlier = line.getByText("counts 1 failed attempt");
    await line.waitFor();
    expect(await earlier.isVisible()).to.equal(false);
    await line.getByText("and 2 counts before it").click();
    await earlier.waitFor();
    expect(await line.getByRole("link", { name: `event ${eventId}` }).count()).to.equal(3);
  });

  it("take changed settings, say a wrong one at its field, and show each change with the value before", async () => {
    const { id } = await account.destination({
      url: stage.receiver.url("/settings"), authType: "BearerToken", credentials: { token: "the-secret-token" },
    });
    const page = await open(`/destinations/${id}?tab=settings`);
    const form = page.getByRole("region", { name: "Delivery" });
    const limit = form.getByLabel("Concurrent requests");
    await limit.fill("0");
    await form.getByRole("button", { name: "Save" }).click();
    await page.getByRole("alert").filter({ hasText: "serverRateLimit" }).waitFor();
    expect(await limit.getAttribute("aria-invalid")).to.equal("true");
    expect(await page.getByLabel("Token", { exact: true }).getAttribute("placeholder")).to.equal("***");
    await limit.fill("9");
    await form.getByRole("button", { name: "Save" }).click();
    await form.getByText("Saved.").waitFor();
    await page.getByRole("button", { name: "Changes" }).click();
    const change = page.getByRole("listitem").filter({ hasText: "set the limit of concurrent requests to 9" });
    await change.getByText(account.email).waitFor();
    expect(await change.locator("del").textContent()).to.equal("5");
    expect(await change.locator("ins").textContent()).to.equal("9");
    await page.getByRole("slider").press("ArrowLeft");
    await page.getByRole("heading", { name: "Since then" }).waitFor();
    const history = await account.owner.get(`/api/v1/destinations/${id}/history`);
    const { items } = history as { items: { position: string }[] };
    expect(items).to.have.length(2);
    expect(new URL(page.url()).searchParams.get("at")).to.equal(items[0]!.position);
    await page.reload();
    const then = page.locator("div:has(> label [type=range])");
    await then.getByText("change 1 of 2").waitFor();
    await then.locator("dd").filter({ hasText: /^5$/ }).waitFor();
    expect(await page.content()).not.to.include("the-secret-token");
  });

  it("have settings of their own in groups, and the relay's once a field is emptied", async () => {
    const { id } = await account.destination({ url: stage.receiver.url("/own") });
    const page = await open(`/destinations/${id}?tab=settings`);
    const saved = async (group: string, fields: Readonly<Record<string, string>>, expected: object) => {
      const form = page.getByRole("region", { name: group });
      for (const [label, value] of Object.entries(fields)) await form.getByLabel(label, { exact: true }).fill(value);
      await form.getByRole("button", { name: "Save" }).click();
      await form.getByText("Saved.").waitFor();
      expect(await account.owner.get(`/api/v1/destinations/${id}`)).to.deep.include(expected);
    };
    await saved("Identity", {
      Name: "Warehouse", Description: "For the\nwarehouse.", Customer: "acme",
      Metadata: "team: billing\n\naws:region: eu",
    }, {
      name: "Warehouse", description: "For the\nwarehouse.", ownerId: "acme",
      metadata: { team: "billing", "aws:region": "eu" },
    });
    await page.getByRole("heading", { name: "Warehouse" }).waitFor();
    const emptied = { name: "Warehouse", description: null, metadata: {} };
    await saved("Identity", { Description: "", Metadata: "" }, emptied);

    const delivery = page.getByRole("region", { name: "Delivery" });
    await delivery.getByText("No event waits now.").waitFor();
    await delivery.getByLabel("Timeout, ms").fill("5");
    await delivery.getByRole("button", { name: "Save" }).click();
    await delivery.getByRole("alert").filter({ hasText: "timeoutMs" }).waitFor();
    await saved("Delivery", { "Timeout, ms": "2500" }, { timeoutMs: 2_500 });
    await saved("Delivery", { "Timeout, ms": "" }, { timeoutMs: null });

    const retries = page.getByRole("region", { name: "Retries and circuit" });
    await retries.getByLabel("Retry policy").selectOption("own");
    await retries.getByLabel("Waits after failures").fill("5s, often");
    await retries.getByLabel("Tries").fill("3");
    await retries.getByRole("button", { name: "Save" }).click();
    await retries.getByRole("alert").filter({ hasText: "retryPolicy.schedule" }).waitFor();
    expect(await retries.getByLabel("Waits after failures").getAttribute("aria-invalid")).to.equal("true");
    await saved("Retries and circuit", { "Waits after failures": "5s, 2m", "Retried outcomes": "429, 5xx" }, {
      retryPolicy: { schedule: ["5s", "2m"], maxTrys: 3, retryOn: ["429", "5xx"] }, circuit: null,
    });
    await retries.getByLabel("Circuit", { exact: true }).selectOption("own");
    await saved("Retries and circuit", { "Failures that open it": "7", "Circuit timer, seconds": "60" }, {
      circuit: { failures: 7, timer: 60 },
    });
    await retries.getByLabel("Posts while the circuit is open").selectOption("hold");
    await saved("Retries and circuit", { "Switched off after, days": "5", "Expiry, days": "30" }, {
      whenSuspended: "hold", disableAfterDays: 5, expireAfterDays: 30,
    });
    await retries.getByLabel("Retry policy").selectOption("");
    await saved("Retries and circuit", {}, { retryPolicy: null, circuit: { failures: 7, timer: 60 } });

    await page.getByRole("link", { name: "Destinations" }).first().click();
    const row = page.getByRole("row").filter({ has: page.getByRole("link", { name: "Warehouse" }) });
    await row.getByTitle(stage.receiver.url("/own")).waitFor();
    await seen!.go("/events");
    await page.getByRole("button", { name: /^Destination/ }).click();
    await page.getByRole("button", { name: `Warehouse – ${stage.receiver.url("/own")}` }).waitFor();
  });

  it("keep typed text while a colleague changes the rest, say who, and ask before it is lost", async () => {
    const { id } = await account.destination({ url: stage.receiver.url("/typed") });
    const colleague = await createUser(await login(stage.relay.url, account.email), "developer");
    const page = await open(`/destinations/${id}?tab=settings`);
    const form = page.getByRole("region", { name: "Delivery" });
    const url = form.getByLabel("URL");
    await url.fill(stage.receiver.url("/typed/two"));
    await form.getByLabel("Status").selectOption("inactive");
    await colleague.client.api.updateDestination(
      { id }, { serverRateLimit: 7, authType: "BearerToken", credentials: { token: "t" } });
    await page.clock.fastForward(6_000);
    await form.getByText(`${colleague.email} set the limit of concurrent requests to 7`).waitFor();
    expect(await url.inputValue()).to.equal(stage.receiver.url("/typed/two"));
    expect(await form.getByLabel("Concurrent requests").inputValue()).to.equal("7");
    expect(await form.getByLabel("Authentication").inputValue()).to.equal("BearerToken");

    const leave = page.getByRole("dialog", { name: "Discard what you typed?" });
    for (const away of [page.getByRole("button", { name: "Health" }), page.getByRole("link", { name: "Senders" })]) {
      await away.click();
      await leave.getByRole("button", { name: "Keep it" }).click();
    }
    expect(await url.inputValue()).to.equal(stage.receiver.url("/typed/two"));

    await form.getByRole("button", { name: "Save" }).click();
    await page.getByRole("dialog", { name: "Switch the destination off?" })
      .getByRole("button", { name: "Keep as it is" }).click();
    await form.getByLabel("Status").selectOption("active");
    await form.getByRole("button", { name: "Save" }).click();
    await form.getByText("Saved.").waitFor();
    expect(await account.owner.get(`/api/v1/destinations/${id}`)).to.include(
      { status: "Active", serverRateLimit: 7, authType: "BearerToken", url: stage.receiver.url("/typed/two") });
    await page.getByRole("button", { name: "Health" }).click();
    await form.waitFor({ state: "detached" });
    expect(await leave.count()).to.equal(0);
  });

  it("ask before a new one is lost that is half typed in its dialog", async () => {
    const page = await open("/destinations?new=yes");
    const dialog = page.getByRole("dialog", { name: "New destination" });
    await dialog.getByLabel("URL").fill("https://half.example/");
    const discard = page.getByRole("dialog", { name: "Discard what you typed?" });
    await page.keyboard.press("Escape");
    await discard.waitFor();
    await page.keyboard.press("Escape");
    await discard.waitFor({ state: "detached" });
    expect(await dialog.getByLabel("URL").inputValue()).to.equal("https://half.example/");
    await dialog.getByRole("button", { name: "Close" }).first().click();
    await discard.getByRole("button", { name: "Discard" }).click();
    await dialog.waitFor({ state: "detached" });
  });

  it("replace the ingest token once it is confirmed, and delete by the typed name", async () => {
    const { id } = await account.destination({ url: stage.receiver.url("/old") });
    const page = await open(`/destinations/${id}`);
    await page.getByRole("button", { name: "New ingest token…" }).click();
    await page.getByRole("button", { name: "Replace the token" }).click();
    const secret = page.getByRole("dialog", { name: "The new ingest token" });
    expect(await secret.locator("p code").textContent()).to.match(/^dst_/);
    await page.keyboard.press("Escape");
    await secret.getByRole("button", { name: "I have stored it" }).click();
    await page.getByRole("button", { name: "Delete…" }).click();
    const remove = page.getByRole("button", { name: "Delete it" });
    expect(await remove.isDisabled()).to.equal(true);
    await page.getByLabel(/Type .* to confirm/).fill(new URL(stage.receiver.url()).host);
    await remove.click();
    await page.getByRole("heading", { name: "Destinations" }).waitFor();
    await seen!.go(`/destinations/${id}`);
    await page.getByRole("heading", { name: "Deleted destination" }).waitFor();
    await page.getByText("deleted the destination").waitFor();
  });

  it("switch off and on from the list", async () => {
    const { id } = await account.destination({ url: stage.receiver.url("/switched") });
    const page = await open("/destinations");
    const row = page.getByRole("row").filter({ hasText: "/switched" });
    await row.getByRole("button", { name: /Switch off/ }).click();
    await page.getByText("Posts to it are refused with 422").waitFor();
    await page.getByRole("button", { name: "Keep as it is" }).click();
    expect((await account.owner.get(`/api/v1/destinations/${id}`))["status"]).to.equal("Active");
    await row.getByRole("button", { name: /Switch off/ }).click();
    await page.getByRole("button", { name: "Switch it off" }).click();
    await row.getByText("Switched off").waitFor();
    await row.getByRole("button", { name: /Switch on/ }).click();
    await row.getByRole("button", { name: /Switch off/ }).waitFor();
    expect((await account.owner.get(`/api/v1/destinations/${id}`))["status"]).to.equal("Active");
  });

  it("Who changed the URL, from what to what: 2", async () => {
    const before = stage.receiver.url("/moved-from");
    const after = stage.receiver.url("/moved-to");
    const { id } = await account.destination({ url: before });
    await account.owner.patch(`/api/v1/destinations/${id}`, { url: after });
    const page = await open("/destinations");
    await page.getByRole("link", { name: after }).click();
    await page.getByRole("button", { name: "Changes" }).click();
    const change = page.getByRole("listitem").filter({ has: page.locator("del") });
    await change.getByText(account.email).waitFor();
    expect(await change.locator("del").textContent()).to.equal(before);
    expect(await change.locator("ins").textContent()).to.equal(after);
  });

  it("are found by a part of their URLs, and ordered by them", async () => {
    await account.destination({ url: stage.receiver.url("/find-b") });
    await account.destination({ url: stage.receiver.url("/find-a") });
    const page = await open("/destinations");
    const urls = async () => (await page.getByRole("row").getByRole("link", { name: /find-/ }).allTextContents())
      .map((text) => text.slice(-"find-a".length));
    await page.getByRole("link", { name: /find-b/ }).waitFor();
    expect(await urls()).to.deep.equal(["find-a", "find-b"]);
    await page.getByLabel("Order").selectOption("by URL");
    await page.waitForURL("**/destinations?sort=url");
    const search = page.getByRole("searchbox");
    await search.fill("find-b");
    await search.press("Enter");
    await page.getByRole("link", { name: /find-a/ }).waitFor({ state: "detached" });
    await page.getByRole("link", { name: /find-b/ }).waitFor();
    expect(await urls()).to.deep.equal(["find-b"]);
    await search.fill("nowhere");
    await search.press("Enter");
    await page.getByText("No destination is found by “nowhere”.").waitFor();
    await page.getByRole("button", { name: "Show all" }).click();
    await page.getByRole("link", { name: /find-a/ }).waitFor();
  });

  it("have no act for a Viewer, and say who has", async () => {
    const viewer = { email: `viewer-${process.pid}@example.com`, password: "correct horse battery" };
    await account.owner.post("/api/v1/users", { ...viewer, role: 20 });
    const { id } = await account.destination({ url: stage.receiver.url("/seen") });
    const page = await open("/destinations", viewer);
    const main = page.getByRole("main");
    await main.getByRole("link", { name: "/seen" }).waitFor();
    await main.getByText("creates and switches destinations").waitFor();
    expect(await main.getByRole("button").count()).to.equal(0);
    await main.getByRole("link", { name: "/seen" }).click();
    await main.getByText("tests, changes and deletes destinations").waitFor();
    await seen!.go(`/destinations/${id}?tab=settings&act=delete`);
    await main.getByText("Concurrent requests").waitFor();
    expect(await page.getByRole("dialog").count()).to.equal(0);
    expect(await main.getByRole("textbox").count()).to.equal(0);
  });

  it("fit into 320 px", async () => {
    const { id } = await account.destination({ url: stage.receiver.url(`/${"long-".repeat(40)}`) });
    const page = await open("/destinations");
    await page.setViewportSize({ width: 320, height: 640 });
    const tabs = ["health", "events", "subscriptions", "circuit", "settings", "changes"]
      .map((tab) => `/destinations/${id}?tab=${tab}`);
    for (const path of ["/destinations", "/destinations?new=yes", ...tabs]) {
      await seen!.go(path);
      await page.getByText("long-long-").first().waitFor();
      expect(await page.evaluate<number>("document.documentElement.scrollWidth"), path).to.be.at.most(320);
    }
  });
});
