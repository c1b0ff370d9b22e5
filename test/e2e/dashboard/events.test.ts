import { expect } from "chai";
import type { Page } from "playwright-core";
import { text } from "../../support/api-client.ts";
import { dashboardStage, signIn, type Visit } from "../../support/dashboard.ts";
import { eventReaches, openAccount, type Account } from "../../support/relay.ts";

describe("the dashboard's list of events", () => {
  const stage = dashboardStage({ receiver: {}, env: { RELAY_RETRY_SCHEDULE: "1h" } });
  let account: Account;
  let seen: Visit | undefined;
  let hooks = 0;

  beforeEach(async () => {
    account = await openAccount(stage.relay.url, { maxTrys: 10 });
  });

  const listOf = (page: Page) => page.getByRole("listbox", { name: "Events" });
  const shown = async (path: string) => {
    seen = await stage.visit();
    await seen.go(path);
    await signIn(seen, account);
    return seen.page;
  };
  /** A destination whose receiver answers with a status. */
  const destination = async (status = 200) => {
    const hook = `/hook-${(hooks += 1)}`;
    stage.receiver.on(hook, () => ({ status }));
    return { hook, ...await account.destination({ url: stage.receiver.url(hook) }) };
  };
  const chooseDestination = async (page: Page, end: string) => {
    await page.getByRole("button", { name: /^Destination/ }).click();
    await page.getByRole("group", { name: "Destination" }).getByRole("button", { name: end }).click();
  };
  /** Posts events one after another, and waits until each has come to an end. */
  const posted = async (ingest: string, count: number, { status = "Succeeded", headers = {} } = {}) => {
    const ids: string[] = [];
    for (let n = 1; n <= count; n++) {
      ids.push(text(await account.producer.post(ingest, { n, name: `order ${n}` }, headers), "eventId"));
    }
    for (const id of ids) await eventReaches(account.owner, id, status);
    return ids;
  };

  it("explains its purpose while it is empty, and leads to the first steps", async () => {
    const page = await shown("/events");
    await page.getByText("No event yet.").waitFor();
    await page.getByRole("main").getByRole("link", { name: "First steps" }).waitFor();
  });

  it("keeps each filter in the address, which shows others the same list", async () => {
    const good = await destination();
    const bad = await destination(410);
    await posted(good.ingest, 2, { headers: { "x-event-type": "order.paid" } });
    const [failed] = await posted(bad.ingest, 1, { status: "CriticalFailure" });
    const page = await shown("/events");
    await listOf(page).getByRole("option").nth(2).waitFor();
    await page.getByRole("button", { name: "Status", exact: true }).click();
    await page.getByRole("checkbox", { name: /Failed/ }).check();
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Status Failed" }).waitFor();
    await listOf(page).getByRole("option", { name: failed! }).waitFor();
    await chooseDestination(page, bad.hook);
    await page.waitForURL(/DestinationUrlId=/);
    await listOf(page).getByRole("option", { name: "410 in" }).waitFor();
    const address = page.url();
    await page.goto("about:blank");
    await page.goto(address);
    await listOf(page).getByRole("option", { name: failed! }).waitFor();
    await page.getByText("1 event", { exact: true }).waitFor();
    await chooseDestination(page, good.hook);
    await page.getByText("No event matches these filters.").waitFor();
    await page.getByRole("button", { name: "Clear filters" }).first().click();
    await page.getByText("3 events", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Type", exact: true }).click();
    await page.getByRole("textbox", { name: "Type" }).fill("order.paid");
    await page.keyboard.press("Enter");
    await page.getByText("2 events", { exact: true }).waitFor();
    expect(new URL(page.url()).search).to.equal("?EventType=order.paid");
    await page.getByRole("button", { name: "Filter", exact: true }).click();
    await page.getByRole("button", { name: "Key", exact: true }).click();
    await page.getByRole("textbox", { name: "Key" }).fill("order-1");
    await page.keyboard.press("Enter");
    await page.getByText("No event matches these filters.").waitFor();
    await page.getByRole("button", { name: "Remove the filter Key" }).click();
    await page.getByText("2 events", { exact: true }).waitFor();
  });

  it("asks for nothing by the address of the next page while one leaves by Back and Forward", async () => {
    const { id, ingest } = await destination();
    const [event] = await posted(ingest, 1);
    const sender = text(await account.owner.post("/api/v1/senders", { name: "till", destinationUrlId: id }), "id");
    const page = await shown("/events?DestinationUrlId=" + id);
    await listOf(page).getByRole("option", { name: event! }).click();
    const asked: string[] = [];
    page.on("request", (request) => asked.push(request.url().replace(stage.origin, "")));
    await page.getByRole("link", { name: "Open its page" }).click();
    await page.getByRole("heading", { name: "Event", level: 1 }).waitFor();
    for (const [plural, name, heading] of [["destinations", "127.0.0.1", "127.0.0.1"], ["senders", "till", "till"]]) {
      await page.getByRole("link", { name: new RegExp(plural!, "i") }).first().click();
      await page.getByRole("main").getByRole("link", { name: name! }).first().click();
      await page.getByRole("heading", { name: heading!, level: 1 }).waitFor();
    }
    await seen!.loaded();
    for (let step = 0; step < 5; step += 1) {
      await page.goBack();
      await seen!.loaded();
    }
    for (let step = 0; step < 5; step += 1) {
      await page.goForward();
      await seen!.loaded();
    }
    await page.getByRole("heading", { name: "till", level: 1 }).waitFor();
    const ids = [id, sender, event!];
    const strange = asked.filter((url) => {
      const { pathname, searchParams } = new URL(url, stage.origin);
      const [, its] = /^\/api\/v1\/(?:events|destinations|senders)\/([^/]+)/.exec(pathname) ?? [];
      const isOtherList = searchParams.get("CpOrd") === "acceptedAt" && searchParams.get("DestinationUrlId") !== id;
      return isOtherList || its !== undefined && !ids.includes(its) && its !== "totals";
    });
    expect(strange).to.deep.equal([]);
  });

  it("moves by keys through all of a long list, and opens the active event beside it", async () => {
    const { ingest } = await destination();
    const ids = (await posted(ingest, 230)).reverse();
    const page = await shown("/events");
    await page.getByText("230 events", { exact: true }).waitFor();
    const list = listOf(page);
    await page.keyboard.press("j");
    await page.keyboard.press("j");
    await page.keyboard.press("k");
    const activeIs = async (place: number) => {
      const option = page.locator(`[id="${await list.getAttribute("aria-activedescendant")}"]`);
      await option.getByText(ids[place]!).waitFor();
      expect(await option.getAttribute("aria-posinset")).to.equal(String(place + 1));
      expect(await option.getAttribute("aria-setsize")).to.equal("230");
    };
    await activeIs(1);
    await page.keyboard.press("End");
    await activeIs(229);
    await page.keyboard.press("Enter");
    await page.getByRole("complementary").getByText(ids[229]!).first().waitFor();
    expect(new URL(page.url()).searchParams.get("event")).to.equal(ids[229]);
    await page.keyboard.press("Escape");
    await page.getByRole("complementary").waitFor({ state: "detached" });
    await page.keyboard.press("Home");
    await activeIs(0);
    const opened = stage.browser.context.waitForEvent("page");
    await page.keyboard.press("Control+Enter");
    const other = await opened;
    expect(other.url()).to.match(new RegExp(`/app/events/${ids[0]}$`));
    await other.close();
  });

  it("changes rows in place, and counts new events without moving the list", async () => {
    const { hook, ingest } = await destination(410);
    const [id] = await posted(ingest, 1, { status: "CriticalFailure" });
    const page = await shown("/events");
    const row = listOf(page).getByRole("option", { name: id! });
    await row.getByText("Failed").waitFor();
    stage.receiver.on(hook, () => ({ status: 204 }));
    await account.owner.post(`/api/v1/events/${id}/replay`, {});
    await row.getByText("Delivered").waitFor();
    await row.getByText(/^204 in/).waitFor();
    const newer = await posted(ingest, 2);
    await page.getByRole("button", { name: "2 new" }).waitFor();
    expect(await listOf(page).getByRole("option").count()).to.equal(1);
    await page.getByRole("button", { name: "2 new" }).click();
    await listOf(page).getByRole("option", { name: newer[1]! }).waitFor();
    expect(await listOf(page).getByRole("option").count()).to.equal(3);
    expect(await page.getByRole("button", { name: /new$/ }).count()).to.equal(0);
  });

  it("tells all tabs by one stream, and goes on in another when the tab that has it is closed", async () => {
    const { ingest } = await destination();
    await posted(ingest, 1);
    const page = await shown("/events");
    await listOf(page).getByRole("option").waitFor();
    const other = await stage.browser.context.newPage();
    const streams: string[] = [];
    other.on("request", (request) => {
      if (request.url().includes("/api/v1/stream")) streams.push(request.url());
    });
    await other.goto(page.url());
    await listOf(other).getByRole("option").waitFor();
    await posted(ingest, 1);
    await other.getByRole("button", { name: "1 new" }).waitFor();
    expect(streams).to.deep.equal([]);
    const asks = other.waitForRequest(/api\/v1\/stream/);
    await page.close();
    await asks;
    await posted(ingest, 1);
    await other.getByRole("button", { name: "2 new" }).waitFor();
    await other.close();
  });

  it("replays a selection and all matching events only after counting, and once the number is typed", async () => {
    const { hook, ingest } = await destination(410);
    const good = await destination();
    await posted(good.ingest, 1);
    await posted(ingest, 4, { status: "CriticalFailure" });
    stage.receiver.on(hook, () => ({ status: 200 }));
    const page = await shown("/events");
    await page.getByText("5 events", { exact: true }).waitFor();
    await page.keyboard.press("j");
    await page.keyboard.press(" ");
    await page.getByText("1 selected").waitFor();
    await page.keyboard.press("r");
    const dialog = page.getByRole("dialog", { name: "Replay events" });
    await dialog.getByText("1 event matches.").waitFor();
    await dialog.getByRole("textbox").fill("1");
    await dialog.getByRole("button", { name: "Replay 1 event" }).click();
    await page.getByText("are being replayed").waitFor();
    await listOf(page).getByRole("option", { name: "Failed" }).nth(2).waitFor();
    await chooseDestination(page, good.hook);
    await page.getByRole("button", { name: "Replay all…" }).click();
    await dialog.getByText("No event matches.").waitFor();
    await dialog.getByRole("button", { name: "Close" }).last().click();
    await page.getByRole("button", { name: "Remove the filter Destination" }).click();
    await page.getByRole("button", { name: "Replay all…" }).click();
    await dialog.getByText("3 events match.").waitFor();
    await dialog.getByText(/^All events in Failed, accepted up to /).waitFor();
    const act = dialog.getByRole("button", { name: "Replay 3 events" });
    await dialog.getByRole("textbox").fill("4");
    expect(await act.isDisabled()).to.equal(true);
    await dialog.getByRole("textbox").fill("3");
    await act.click();
    await page.getByText("3 events are being replayed").waitFor();
    await listOf(page).getByRole("option", { name: "Delivered" }).nth(4).waitFor();
  });

  it("cancels waiting events, and says how many", async () => {
    const { ingest } = await destination(500);
    await posted(ingest, 2, { status: "WaitingRetry" });
    const page = await shown("/events");
    await page.getByRole("button", { name: "Cancel all…" }).click();
    const dialog = page.getByRole("dialog", { name: "Cancel events" });
    await dialog.getByRole("textbox").fill("2");
    await dialog.getByRole("button", { name: "Cancel 2 events" }).click();
    await page.getByText("2 of 2 events cancelled.").waitFor();
    await listOf(page).getByRole("option", { name: "Cancelled" }).nth(1).waitFor();
  });

  it("searches payloads by a text, and by a field", async () => {
    const { ingest } = await destination();
    const ids = await posted(ingest, 3);
    const page = await shown("/events?Text=order%202");
    await page.getByText("1 found in 3 events: all were scanned.").waitFor();
    expect(await listOf(page).getByRole("option").textContent()).to.include(ids[1]);
    await listOf(page).getByRole("option", { name: "order 2" }).locator("mark").waitFor();
    await page.getByRole("button", { name: "Payload “order 2”" }).click();
    await page.getByLabel("Payload field").fill("/n");
    await page.getByLabel("is", { exact: true }).fill("3");
    await page.keyboard.press("Enter");
    await listOf(page).getByRole("option", { name: ids[2]! }).waitFor();
    expect(new URL(page.url()).search).to.equal("?Pointer=%2Fn&Value=3");
  });

  it("shows outcomes over time: keys read bars out, the legend filters, dragging zooms", async () => {
    const { ingest } = await destination();
    await posted(ingest, 2);
    const page = await shown("/events");
    const chart = page.getByRole("slider", { name: "Outcomes over time" });
    await page.getByRole("button", { name: "2 delivered" }).waitFor();
    // The posts may be in two minutes.
    for (const keys of ["End", "Shift+Home"]) await chart.press(keys);
    expect(await chart.getAttribute("aria-valuetext")).to.match(/: 2 delivered, 0 failed, 0 cancelled$/);
    await page.getByRole("button", { name: "As a table" }).click();
    const rows = page.getByRole("table", { name: "Outcomes over time" }).getByRole("row");
    await rows.nth(1).waitFor();
    const counts = (await rows.allInnerTexts()).slice(1).map((row) => row.split(/\s+/).slice(-4).map(Number));
    expect(counts[0]!.map((_, at) => counts.reduce((sum, row) => sum + row[at]!, 0))).to.deep.equal([2, 2, 0, 0]);
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "0 failed" }).click();
    await page.getByText("No event came to an end in this time.").waitFor();
    await page.getByRole("button", { name: "Status Failed" }).waitFor();
    await page.getByRole("button", { name: "Remove the filter Status" }).click();
    await page.getByText("2 events", { exact: true }).waitFor();
    const bars = (await chart.boundingBox())!;
    await page.mouse.move(bars.x + bars.width * 0.5, bars.y + 20);
    await page.mouse.down();
    await page.mouse.move(bars.x + bars.width - 1, bars.y + 20);
    await page.mouse.up();
    await page.waitForURL(/From=.*To=/);
    await page.getByText("2 events", { exact: true }).waitFor();
  });

  it("has the acts of an event in its row and in its panel, which the keys move and which scrolls alone", async () => {
    const { hook, ingest } = await destination(410);
    const ids = (await posted(ingest, 3, { status: "CriticalFailure" })).reverse();
    stage.receiver.on(hook, () => ({ status: 204 }));
    const page = await shown("/events");
    const row = (place: number) => listOf(page).getByRole("option").nth(place);
    await row(0).hover();
    await row(0).getByText("Replay").click();
    await page.getByRole("dialog", { name: "Replay?" }).getByRole("button", { name: "Replay" }).click();
    await row(0).getByText("Delivered").waitFor();
    expect(await page.getByRole("complementary").count()).to.equal(0);
    await page.keyboard.press("r");
    await page.getByRole("dialog", { name: "Resend?" }).press("Escape");
    await row(1).click();
    const panel = page.getByRole("complementary");
    await panel.getByText(ids[1]!).first().waitFor();
    await panel.getByText(/^Not delivered/).waitFor();
    await page.waitForFunction(`document.title.includes("${ids[1]!.slice(0, 13)}")`);
    await page.keyboard.press("j");
    await panel.getByText(ids[2]!).first().waitFor();
    await page.keyboard.press("k");
    await panel.getByText(ids[1]!).first().waitFor();
    await panel.getByText(/^Not delivered/).waitFor();
    await panel.getByRole("button", { name: "Resend…" }).click();
    await page.getByRole("dialog", { name: "Resend?" }).getByRole("button", { name: "Resend" }).click();
    await row(1).getByText("Delivered").waitFor();
    await page.getByRole("dialog").waitFor({ state: "detached" });
    const key = row(1).getByText(ids[1]!.slice(0, 13), { exact: true });
    for (const part of [row(1).getByText("Delivered"), key, row(1).getByTitle(hook)]) {
      expect(await part.isVisible()).to.equal(true);
    }
    const widthOf = async () => (await panel.boundingBox())!.width;
    const before = await widthOf();
    await page.getByRole("separator", { name: "Width of the panel" }).press("ArrowLeft");
    await page.locator("[role=separator][aria-valuenow='54']").waitFor();
    expect(await widthOf()).to.be.above(before);
    const wider = await widthOf();
    await page.reload();
    await panel.getByText(/^Delivered by attempt/).waitFor();
    expect(await widthOf()).to.be.closeTo(wider, 1);
    expect(await page.evaluate("document.documentElement.scrollHeight - innerHeight")).to.equal(0);
    await page.goBack();
    await panel.waitFor({ state: "detached" });
  });

  it("opens tabs by the middle button and by Control, and is where it was after Back", async () => {
    const { ingest } = await destination();
    const ids = (await posted(ingest, 60)).reverse();
    const page = await shown("/events");
    await page.getByText("60 events", { exact: true }).waitFor();
    for (const how of ["middle", "Control"] as const) {
      const opened = stage.browser.context.waitForEvent("page");
      await listOf(page).getByRole("option", { name: ids[2]! }).click(
        how === "middle" ? { button: how } : { modifiers: [how] });
      const other = await opened;
      expect(other.url()).to.match(new RegExp(`/app/events/${ids[2]}$`));
      await other.close();
    }
    await page.keyboard.press("j");
    await page.keyboard.press("End");
    await page.keyboard.press("k");
    const last = listOf(page).getByRole("option", { name: ids[58]! });
    const place = (await last.boundingBox())!.y;
    await posted(ingest, 1);
    await page.getByRole("button", { name: "1 new" }).waitFor();
    await page.getByRole("link", { name: "Audit" }).click();
    await page.getByRole("heading", { name: "Audit", level: 1 }).waitFor();
    await page.goBack();
    await last.waitFor();
    expect((await last.boundingBox())!.y).to.be.closeTo(place, 1);
    expect(await last.getAttribute("data-active")).to.equal("true");
    await page.getByText("60 events", { exact: true }).waitFor();
  });

  it("follows new events as a tail, which tells their rate and stands still while it is paused", async () => {
    const { ingest } = await destination();
    await posted(ingest, 2);
    const page = await shown("/events");
    await page.getByRole("button", { name: "Tail" }).click();
    await page.waitForURL(/tail=on/);
    const rows = listOf(page).getByRole("option");
    await rows.nth(1).waitFor();
    const [third] = await posted(ingest, 1);
    await rows.nth(0).getByText(third!).waitFor();
    await page.getByText("Following: 1 in the last minute").waitFor();
    await rows.nth(0).getByText("Delivered").waitFor();
    await page.getByRole("button", { name: "Pause" }).click();
    const [fourth] = await posted(ingest, 1);
    await page.getByText("Standing still: 2 in the last minute, 1 waiting").waitFor();
    await rows.nth(0).getByText(third!).waitFor();
    await page.getByRole("button", { name: "Go on" }).click();
    await rows.nth(0).getByText(fourth!).waitFor();
    await page.getByRole("button", { name: "Tail" }).click();
    await page.getByText("4 events", { exact: true }).waitFor();
  });

  it("shows a Viewer no acts, and says who has them", async () => {
    const { ingest } = await destination();
    await posted(ingest, 1);
    const viewer = { email: `viewer-${process.pid}@example.com`, password: "correct horse battery" };
    await account.owner.post("/api/v1/users", { ...viewer, role: 20 });
    seen = await stage.visit();
    await seen.go("/events");
    await signIn(seen, viewer);
    await seen.page.getByText("Developers and higher roles replay and cancel events.").waitFor();
    expect(await seen.page.getByRole("button", { name: /Replay|Cancel/ }).count()).to.equal(0);
  });
});
