import { execFileSync } from "node:child_process";
import { expect } from "chai";
import type { Locator, Page } from "playwright-core";
import { createClient, type RelayClient } from "../../../packages/client/src/index.ts";
import { dashboardStage, signIn, visit, type Visit } from "../../support/dashboard.ts";
import { type Script } from "../../support/receiver.ts";
import { eventReaches, openAccount, type Account } from "../../support/relay.ts";

const chaptersPart = "section[aria-label=Chapters]";

describe("the story of an event on its page", () => {
  const stage = dashboardStage({ receiver: {} });
  let account: Account;
  let owner: RelayClient;
  let seen: Visit | undefined;
  let page: Page;
  before(async () => {
    account = await openAccount(stage.relay.url, { maxTrys: 3, circuitBreakerTimer: 1 });
    const { email, password } = account;
    const { accessToken } = await createClient({ url: stage.relay.url }).login({ email, password });
    owner = createClient({ url: stage.relay.url, token: accessToken });
    const { origin } = stage;
    await stage.browser.context.grantPermissions(["clipboard-read", "clipboard-write"], { origin });
    seen = await visit(stage.browser, origin);
    page = seen.page;
    await seen.go("/");
    await signIn(seen, account);
  });
  afterEach(() => seen?.expectNoFault());

  let paths = 0;
  /** A destination whose receiver answers by a script, and a producer for it. */
  const opened = async (script: Script) => {
    paths += 1;
    stage.receiver.on(`/story-${paths}`, script);
    const { id, ingest } = await account.destination({ url: stage.receiver.url(`/story-${paths}`) });
    return {
      id,
      post: async (body = '{"order":1}', headers: Readonly<Record<string, string>> = {}) => {
        const answer = await fetch(stage.relay.url + ingest, {
          method: "POST", body,
          headers: { ...account.producer.headers, "content-type": "application/json", ...headers },
        });
        return ((await answer.json()) as { eventId: string }).eventId;
      },
    };
  };
  const show = async (id: string, query = "") => {
    await seen!.go(`/events/${id}${query}`);
    await page.locator("[data-tense]").first().waitFor();
  };
  /** The chosen moment is shown, not the one before. */
  const settled = () => page.locator("[data-story][aria-busy=false]").waitFor();
  const said = (tense: "now" | "then") => page.locator(`[data-tense=${tense}]`);
  const titles = () => page.locator(`${chaptersPart} > ol:first-child strong`).allTextContents();
  const laterTitles = () => page.locator(`${chaptersPart} > h2 + ol strong`).allTextContents();
  const chapter = (title: string): Locator =>
    page.locator(`${chaptersPart} > ol > li`).filter({ has: page.locator("strong", { hasText: title }) });
  const address = (name: string) => new URL(page.url()).searchParams.get(name);
  const positionOf = async (id: string, type: string) => {
    const { items } = await owner.listEventHistory({ id, Qt: 100 });
    return items.find((fact) => fact.type === type)?.position ?? expect.fail(`no ${type}`);
  };

  it("says of an exhausted event why it failed, and of each wait its planned time", async () => {
    const { post } = await opened(() => ({ status: 500, body: "<h1>no</h1>" }));
    const id = await post();
    await eventReaches(account.owner, id, "CriticalFailure");
    await show(id);
    expect(await said("now").textContent())
      .to.equal("Not delivered: the receiver answered 500 three times (no), the maximum.");
    expect(await said("now").locator("q").textContent()).to.equal("no");
    expect(await titles())
      .to.deep.equal(["Accepted", "Attempt 1", "Waited", "Attempt 2", "Waited", "Attempt 3", "Failed"]);
    expect(await chapter("Attempt 2").locator("strong + span").textContent()).to.match(/^500 in .+ · planned by the retry schedule/);
    expect(await chapter("Waited").first().locator("strong + span").textContent())
      .to.match(/^\d+ ms, due [\d:.]+: planned by the retry schedule, after 1 failed attempt/);
    await chapter("Accepted").locator("strong + span").getByText("By API key “producer”").waitFor();
    await page.getByRole("img", { name: /7 chapters in a line/ }).waitFor();
  });

  it("is told as of any moment by keyboard, by slider and by links, and the moment is in the address", async () => {
    const { post } = await opened(() => ({ status: 500 }));
    const id = await post();
    await eventReaches(account.owner, id, "CriticalFailure");
    await show(id);
    await page.keyboard.press("ArrowLeft");
    await said("then").waitFor();
    await settled();
    expect(await said("now").textContent()).to.match(/^Not delivered/);
    expect(await laterTitles()).to.deep.equal(["Failed"]);
    expect(address("at")).to.equal((await owner.listEventHistory({ id, Qt: 1, TpOrd: "Desc", Type: "DeliveryFailed" }))
      .items[0]?.position);
    await page.keyboard.press("ArrowLeft");
    await said("then").getByText("Attempt 3 was in flight.").waitFor();
    await page.getByText("No answer yet.").waitFor();
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("ArrowRight");
    await said("then").waitFor({ state: "detached" });
    expect(address("at")).to.equal(null);
    const slider = page.getByLabel("Moment");
    await slider.focus();
    await page.keyboard.press("Home");
    await said("then").getByText(/^Was waiting for its first attempt: the first attempt after acceptance/).waitFor();
    await page.getByText("No attempt had been made.").waitFor();
    await page.getByRole("button", { name: "Now" }).click();
    await chapter("Failed").getByRole("link", { name: "3 attempts failed" }).click();
    await page.waitForURL(`**/events/${id}?at=${await positionOf(id, "DeliveryExhausted")}`);
  });

  it("shows the event at a time of day: 1 click and a typed time", async () => {
    const { post } = await opened(() => ({ status: 500 }));
    const id = await post();
    await eventReaches(account.owner, id, "CriticalFailure");
    const { items: [started] } =
      await owner.listEventHistory({ id, Type: "DeliveryAttemptStarted", Qt: 1, TpOrd: "Desc" });
    await show(id);
    const field = page.getByLabel("As of");
    await field.click();
    await page.keyboard.type(started!.time.slice("2026-11-28T".length, -"Z".length));
    await page.keyboard.press("Enter");
    await said("then").getByText("Attempt 3 was in flight.").waitFor();
    expect(address("at")).to.equal(started!.position);
    expect(await field.inputValue()).to.equal(started!.time.replace("T", " ").replace("Z", ""));
    await field.fill("00:00 yesterday");
    await field.press("Enter");
    await page.getByRole("alert").getByText("Type a time, such as 10:05").waitFor();
    await field.fill("2001-01-01 10:05");
    await field.press("Enter");
    await page.getByRole("alert").getByText("nothing was before").waitFor();
    await field.fill("now");
    await field.press("Enter");
    await said("then").waitFor({ state: "detached" });
  });

  it("names the change before the failures, and leads to it and to the destination", async () => {
    const { id: destinationId, post } = await opened(() => ({
      status: 404, body: '{"code":7,"message":"It moved to /v2/webhooks"}',
    }));
    await owner.updateDestination({ id: destinationId }, { url: stage.receiver.url(`/story-${paths}?v=2`) });
    const id = await post();
    await eventReaches(account.owner, id, "CriticalFailure");
    await show(id);
    expect(await said("now").textContent()).to.match(/^Not delivered: the receiver answered 404 three times/);
    expect(await said("now").locator("q").textContent()).to.equal("It moved to /v2/webhooks");
    await page.getByText(new RegExp(`^The failures began .+ after ${account.email} changed the URL\\.`)).waitFor();
    await page.getByRole("button", { name: "Copy for a ticket" }).click();
    await page.getByText("Copied", { exact: true }).waitFor();
    expect(await page.evaluate<string>("navigator.clipboard.readText()")).to.include("It moved to /v2/webhooks");
    await page.getByRole("link", { name: "See the change" }).click();
    await page.waitForURL(`**/destinations/${destinationId}?tab=changes&at=*`);
    await page.goBack();
    await page.getByRole("link", { name: "Open destination" }).click();
    await page.waitForURL(`**/destinations/${destinationId}`);
  });

  it("shows a binary answer as hexadecimal digits, and says what was not sent", async () => {
    const { post } = await opened(() => ({ status: 500, body: Buffer.from("89504e470d0a1a0a00ff41", "hex") }));
    const id = await post();
    await eventReaches(account.owner, id, "CriticalFailure");
    await show(id);
    expect(await said("now").locator("q").count()).to.equal(0);
    const answer = page.getByRole("region", { name: "Answered" });
    await answer.getByText("·· 50 4e 47 0d 0a 1a 0a").waitFor();
    await answer.getByRole("button", { name: "As text" }).click();
    const nowhere = await account.destination({ url: "https://does-not-exist.invalid/hook" });
    const posted = await account.producer.post(nowhere.ingest, { order: 1 });
    const unsent = String(posted["eventId"]);
    await eventReaches(account.owner, unsent, "CriticalFailure");
    await show(unsent);
    await page.getByRole("region", { name: "Not sent" })
      .getByText("not sent to https://does-not-exist.invalid/hook").waitFor();
  });

  it("is told of a moment by its address, with the change there and the state before", async () => {
    const { post } = await opened(() => ({ status: 500 }));
    const id = await post();
    await eventReaches(account.owner, id, "CriticalFailure");
    await show(id, `?at=${await positionOf(id, "RetryScheduled")}`);
    await said("then").getByText(/^The receiver had answered 500\. Was waiting for attempt 2: planned by .+, due /).waitFor();
    await settled();
    await page.locator("[data-story] dl > div:has(mark)", { hasText: "status" })
      .getByText("was Attempt failed").waitFor();
    expect(await titles()).to.deep.equal(["Accepted", "Attempt 1", "Waiting"]);
    expect(await laterTitles()).to.deep.equal(["Attempt 2", "Waited", "Attempt 3", "Failed"]);
    await page.reload();
    await said("then").waitFor();
    await show(id, "?at=no-place");
    await page.getByRole("alert").getByText("There is nothing to tell of that moment").waitFor();
  });

  it("compares the attempts of a retried event, side by side, also by keyboard", async () => {
    const { post } = await opened(({ headers }) => (headers["x-relay-attempt"] === "1"
      ? { status: 503, body: "later" } : { status: 200, body: "thanks", headers: { "x-shard": "b" } }));
    const id = await post();
    await eventReaches(account.owner, id, "Succeeded");
    await show(id);
    expect(await said("now").textContent()).to.match(/^Delivered by attempt 2, .+ after acceptance\.$/);
    const view = page.getByRole("region", { name: "Attempt 2" });
    await view.getByLabel("Compare with").selectOption({ index: 1 });
    await view.getByRole("row", { name: "X-Relay-Attempt 2 was 1", exact: true }).waitFor();
    expect(await view.getByRole("row", { name: /^x-shard/ }).textContent()).to.equal("x-shardb was absent");
    await view.getByText("Differs from attempt 1").waitFor();
    await view.locator(".cm-deletedLine, .cm-deletedChunk", { hasText: "later" }).first().waitFor();
    await view.getByRole("button", { name: "Differences" }).click();
    await view.locator(".cm-deletedChunk").waitFor({ state: "detached" });
    await view.getByText("The body is that of attempt 1.").waitFor();
    await view.getByText("settings: revision 0").waitFor();
    await page.keyboard.press("Escape");
    await page.locator("h1").click();
    await page.keyboard.press("[");
    await page.getByRole("heading", { name: "Attempt 1: 503 in" }).waitFor();
    expect(address("attempt")).to.equal("1");
    await page.keyboard.press("]");
    await page.getByRole("heading", { name: "Attempt 2: 200 in" }).waitFor();
  });

  it("says that the open circuit held an event, after which failures, and that the event was its probe", async () => {
    let isUp = false;
    const { id: destinationId, post } = await opened(() => ({ status: isUp ? 200 : 500 }));
    const id = await post();
    await eventReaches(account.owner, id, "CriticalFailure");
    await owner.replayEvent({ id });
    isUp = true;
    await eventReaches(account.owner, id, "Succeeded");
    await show(id);
    const wait = chapter("Waited").last().locator("strong + span");
    expect(await wait.textContent()).to.match(/held by the open circuit, after 3 failures in a row/);
    expect(await wait.getByRole("link", { name: "open circuit" }).getAttribute("href"))
      .to.match(new RegExp(`/destinations/${destinationId}\\?tab=circuit&at=`));
    expect(await chapter("Attempt 4").locator("strong + span").textContent()).to.include("the probe of the circuit");
    const { items } = await owner.listEventHistory({ id, Type: "DeliveryAttemptStarted", TpOrd: "Desc", Qt: 1 });
    await show(id, `?at=${items[0]?.position}`);
    await said("then").getByText(/^Attempt 4 was in flight, as the probe of the circuit that had held it/).waitFor();
    await page.locator("[data-story] dl").getByText(/^circuit open until/).waitFor();
    await page.locator("[data-story] svg title", { hasText: "Circuit open for" }).first()
      .waitFor({ state: "attached" });
  });

  it("replays an exhausted event by its key, after a question, and tells who asked", async () => {
    let isUp = false;
    const { post } = await opened(() => ({ status: isUp ? 200 : 500 }));
    const id = await post();
    await eventReaches(account.owner, id, "CriticalFailure");
    isUp = true;
    await show(id);
    await page.keyboard.press("r");
    await page.getByRole("dialog").getByRole("button", { name: "Replay" }).click();
    await said("now").getByText(/^Delivered by attempt 4/).waitFor();
    expect((await titles()).slice(6, 8)).to.deep.equal(["Failed", "Replayed"]);
    expect(await chapter("Replayed").locator("strong + span").textContent())
      .to.equal(`Requested by user “${account.email}” (Owner)`);
    await page.getByRole("button", { name: "Resend…" }).waitFor();
    expect(await page.getByRole("button", { name: "Replay…" }).count()).to.equal(0);
  });

  it("says why an event waits while it does, and cancels it", async () => {
    await owner.updateTenant({ id: account.tenantId }, { circuitBreakerTimer: 600 });
    const { post } = await opened(() => ({ status: 500 }));
    const id = await post();
    await eventReaches(account.owner, id, "CriticalFailure");
    await owner.replayEvent({ id });
    await show(id);
    await said("now").getByText(/^Waits for attempt 4: circuit open until [\d:.]+ \(in .+\), after 3 failures in a row\.$/).waitFor();
    await page.getByText("It cannot be sent now: its destination's circuit is open.").waitFor();
    await page.getByRole("button", { name: "Cancel event…" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Cancel event" }).click();
    await said("now").getByText(/^Cancelled after 3 attempts, .+: requested by user .+ \(Owner\)\.$/).waitFor();
    expect((await titles()).at(-1)).to.equal("Cancelled");
    await owner.updateTenant({ id: account.tenantId }, { circuitBreakerTimer: 1 });
  });

  it("shows hostile payloads and answers to the letter", async () => {
    const digits = "1234567890".repeat(20);
    const answer = "</script><script>alert(1)</script><img src=x onerror=alert(2)> \u202Eright to left\0end";
    const { post } = await opened(() => ({ status: 500, body: answer, headers: { "x-evil": "<b>bold</b>" } }));
    const payload = `{"number":${digits},"text":"</script>\\u0000 שלום \u202E","n":1.0}`;
    const id = await post(payload, { "idempotency-key": "</td><script>" });
    await eventReaches(account.owner, id, "CriticalFailure");
    await show(id);
    const sent = page.getByRole("textbox", { name: "Payload" });
    expect(await sent.textContent()).to.include(digits).and.include('"</script>\\u0000 שלום ').and.include("1.0");
    const answered = page.getByRole("textbox", { name: "Answer" });
    expect(await answered.textContent()).to.include("</script><script>alert(1)</script><img src=x onerror=alert(2)>");
    expect(await answered.locator(".cm-specialChar").count()).to.equal(2);
    expect(await page.locator("[data-story] :is(script, b, [onerror])").count()).to.equal(0);
    expect(await page.getByRole("row", { name: /^x-evil/ }).textContent()).to.equal("x-evil<b>bold</b>");
    expect(await page.locator("[data-story] a[href*=alert]").count()).to.equal(0);
  });

  it("shows a payload of one long line, and finds a text in it", async () => {
    const { post } = await opened(() => ({}));
    const id = await post(`{"long":"${"x".repeat(100 * 1024)}needle"}`);
    await eventReaches(account.owner, id, "Succeeded");
    await show(id);
    const sent = page.getByRole("region", { name: "Sent" });
    await sent.getByRole("button", { name: "Search" }).click();
    await sent.getByPlaceholder("Find").pressSequentially("needle");
    await page.keyboard.press("Enter");
    await sent.locator(".cm-searchMatch", { hasText: "needle" }).first().waitFor();
  });

  it("copies an attempt as a command that sends the very request again, without its secrets", async () => {
    const { id: destinationId, post } = await opened(() => ({}));
    await owner.updateDestination({ id: destinationId }, {
      authType: "BearerToken", credentials: { token: "top-secret-token" },
    });
    const payload = `{"quote":"it's $(id) \`id\` \\\\ \\"x\\"","at":"@file"}`;
    const id = await post(payload);
    await eventReaches(account.owner, id, "Succeeded");
    await show(id);
    await page.getByRole("button", { name: "Copy as curl" }).waitFor();
    await page.keyboard.press("c");
    await page.getByText("✓ Copied").waitFor();
    const command = await page.evaluate<string>("navigator.clipboard.readText()");
    const script = `curl() { for word in "$@"; do printf '%s\\0' "$word"; done; }\n${command}`;
    const words = execFileSync("sh", ["-c", script], { encoding: "utf8" }).split("\0");
    const at = (option: string) => words[words.indexOf(option) + 1];
    expect(at("--data-raw")).to.equal(payload);
    expect(words).to.include("Authorization: Bearer ***").and.include(`webhook-id: ${id}`);
    expect(words.find((word) => word.startsWith("https://"))).to.match(/\/story-\d+$/);
    expect(command).to.not.include("top-secret");
  });

  it("lists the entries of a chapter when asked, with their authors and moments", async () => {
    const { post } = await opened(() => ({}));
    const id = await post();
    await eventReaches(account.owner, id, "Succeeded");
    await show(id);
    const attempt = page.locator(`${chaptersPart} > ol > li:has(strong)`).filter({ hasText: "Attempt 1" });
    expect(await attempt.getByRole("link", { name: "DeliverySucceeded" }).count()).to.equal(0);
    await attempt.getByText("2 entries").click();
    await attempt.getByText("of the event, by the relay").nth(1).waitFor();
    await attempt.getByRole("link", { name: "DeliveryAttemptStarted" }).click();
    await said("then").getByText("Attempt 1 was in flight").waitFor();
  });

  it("shows the first and the last of many chapters, and those between when asked", async () => {
    const { post } = await opened(() => ({}));
    const id = await post();
    await eventReaches(account.owner, id, "Succeeded");
    const { chapters, ...story } = await owner.getEventStory({ id });
    const attempt = chapters.at(-1)!;
    const many = Array.from({ length: 1_000 }, (_, place) => ({
      ...attempt, entries: attempt.entries.map((entry) => ({ ...entry, position: `${entry.position}-${place}` })),
    }));
    await page.route("**/story", (route) => route.fulfill({ json: { ...story, chapters: [chapters[0], ...many] } }));
    await show(id);
    expect(await page.locator(`${chaptersPart} > ol > li:has(strong)`).count()).to.equal(50);
    expect(await page.locator("[data-story] svg title").allTextContents()).to.include("951 chapters between");
    await page.getByRole("button", { name: "Show 951 chapters between" }).click();
    await page.locator(`${chaptersPart} > ol > li:has(strong)`).nth(1_000).waitFor();
    await page.unroute("**/story");
  });

  it("has no acts for a Viewer, and says who can", async () => {
    const { post } = await opened(() => ({}));
    const id = await post();
    await eventReaches(account.owner, id, "Succeeded");
    const viewer = { email: `viewer-${account.email}`, password: "correct horse battery" };
    await owner.createUser({ ...viewer, role: 20 });
    await stage.browser.context.clearCookies();
    await seen!.go(`/events/${id}`);
    await signIn(seen!, viewer);
    await page.getByText("Developers can replay and cancel events.").waitFor();
    expect(await page.getByRole("button", { name: "Resend…" }).count()).to.equal(0);
  });
});
