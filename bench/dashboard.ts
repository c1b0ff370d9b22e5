import { rmSync } from "node:fs";
import type { Locator, Page } from "playwright-core";
import { text, type Json } from "../test/support/api-client.ts";
import { endAll } from "../test/support/at-end.ts";
import { startChromium } from "../test/support/chromium.ts";
import { atLocalhost, signIn } from "../test/support/dashboard.ts";
import { makeAuthority } from "../test/support/tls.ts";
import { copyOf, dataSet } from "./data/data-set.ts";
import { addGivenUp } from "./data/fill.ts";
import { RelayProcess, type TenantRecord } from "./support/relay.ts";
import { listed, type Figure, type Report } from "./support/report.ts";
import { rounds, sized } from "./support/size.ts";
import { median } from "./support/statistics.ts";

/** Stored events of all tenants. */
const events = Number(process.env["EVENTS"] ?? sized(100_000, 1_000_000));
const attempts = 1_000;
const keys = 60;
const liveEvents = 40;
/** As many as come in an hour at about 1.4/s; each has at least three frames. */
const tailEvents = 5_000;
const tailPosters = 20;
/** The selector of the ids in the list of events. */
const rows = "[role=option] code";
/** No receiver is there: each attempt fails at once. */
const nowhere = "https://127.0.0.1:9/";

/** The measurements of one round, ms. */
interface Round {
  readonly cold: number;
  readonly coldSlow: number;
  readonly toEnd: number;
  readonly worstKey: number;
  readonly story: number;
  readonly liveP95: number;
}

/** How fast the dashboard is in Chromium, on a relay with many stored events. */
export async function dashboard(): Promise<Report> {
  const set = await dataSet(events);
  const dataDir = await copyOf(set);
  const retried = { tenant: set.spare, id: await addGivenUp(dataDir, set.spare, attempts) };
  const relay = await RelayProcess.start({ caPem: makeAuthority().caPem, dataDir });
  const browser = await startChromium({ bypassCSP: true });
  try {
    const pages = `${atLocalhost(relay.url)}/app`;
    const [stored] = set.tenants;
    if (!stored) throw new Error("the set has no tenant");
    const live = await relay.createTenant([nowhere], { maxTrys: 10_000 });
    const page = await browser.context.newPage();
    const taken: Round[] = [];
    for (let round = 0; round <= rounds; round += 1) {
      const measured = await measure(relay, page, pages, { stored, retried, live });
      if (round > 0) taken.push(measured);
    }
    const heapBytes = await heapAfterTail(relay, page, live);
    return { name: "dashboard", figures: [...figuresOf(taken), heapFigure(heapBytes)], ledger: [], rounds: taken };
  } finally {
    await browser.close();
    await endAll();
    await relay.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

async function posted({ url }: RelayProcess, { tenantId, destinations, apiKey }: TenantRecord): Promise<string> {
  const answer = await fetch(`${url}/api/v1/ingest/${tenantId}/${destinations[0]?.ingestToken}`, {
    method: "POST", body: "{}", headers: { "content-type": "application/json", "x-api-key": apiKey },
  });
  return text((await answer.json()) as Json, "eventId");
}

async function measure(
  relay: RelayProcess, page: Page, pages: string,
  { stored, retried, live }: {
    readonly stored: TenantRecord;
    /** An event with many failed attempts, and its tenant. */
    readonly retried: { readonly tenant: TenantRecord; readonly id: string };
    /** For new events. */
    readonly live: TenantRecord;
  },
): Promise<Round> {
  await signedIn(page, pages, stored);
  const cold = await timed(() => page.goto(`${pages}/events`), () => shown(page, rows));
  const devtools = await page.context().newCDPSession(page);
  await devtools.send("Emulation.setCPUThrottlingRate", { rate: 4 });
  const coldSlow = await timed(() => page.goto(`${pages}/events`), () => shown(page, rows));
  await devtools.send("Emulation.setCPUThrottlingRate", { rate: 1 });
  await untilIdle(page);
  const list = page.getByRole("listbox", { name: "Events" });
  await list.focus();
  const worstKey = await worstKeyToPaint(page);
  const total = Number(await list.locator("[role=option]").first().getAttribute("aria-setsize"));
  const last = `[role=option][aria-posinset="${total}"] code`;
  const toEnd = await timed(() => list.press("End"), () => shown(page, last));
  await signedIn(page, pages, retried.tenant);
  await page.goto(`${pages}/events`);
  await untilIdle(page);
  const story = await timed(() => list.press("Enter"), () => shown(page, "h2, h3, h4", `Attempt ${attempts}:`));
  await signedIn(page, pages, live);
  const liveP95 = await liveDelay(relay, page, pages, live);
  return { cold, coldSlow, toEnd, worstKey, story, liveP95 };
}

/**
 * Resolves in the frame in which an element has the text. Playwright's own waiting, which looks every half second later
 * on, would be what is measured.
 */
async function shown(page: Page, selector: string, text = ""): Promise<void> {
  const found = `[...document.querySelectorAll(${JSON.stringify(selector)})]`;
  await page.waitForFunction(`${found}.some(({ textContent }) => textContent.includes(${JSON.stringify(text)}))`,
    undefined, { polling: "raf" });
}

/** The first event on the list of events. */
function firstRow(page: Page): Locator {
  return page.locator(rows).first();
}

/** Waits until the list of events and the parts above it are shown. */
async function untilIdle(page: Page): Promise<void> {
  await firstRow(page).waitFor();
  await page.getByRole("button", { name: / delivered$/ }).waitFor();
  await page.evaluate("new Promise((resolve) => requestIdleCallback(resolve))");
}

async function signedIn(page: Page, pages: string, { login }: TenantRecord): Promise<void> {
  await page.context().clearCookies();
  await page.goto(`${pages}/login`);
  await signIn({ page }, login);
}

/** From the beginning of an act to its end, ms. */
async function timed(begin: () => Promise<unknown>, ended: () => Promise<unknown>): Promise<number> {
  const from = performance.now();
  await Promise.all([begin(), ended()]);
  return performance.now() - from;
}

/** The longest time from a key to the frame that shows its effect, by the browser's own clock, ms. */
async function worstKeyToPaint(page: Page): Promise<number> {
  await page.evaluate(`
    globalThis.keyDelays = [];
    document.addEventListener("keydown", ({ timeStamp }) => {
      const shown = () => keyDelays.push(performance.now() - timeStamp);
      requestAnimationFrame(() => requestAnimationFrame(shown));
    }, true);
  `);
  for (let key = 0; key < keys; key += 1) await page.keyboard.press("j");
  await page.waitForFunction(`keyDelays.length === ${keys}`);
  return page.evaluate<number>("Math.max(...keyDelays)");
}

/** From the answer to a post until the list of events says that there is a new one: p95, ms. */
async function liveDelay(relay: RelayProcess, page: Page, pages: string, tenant: TenantRecord): Promise<number> {
  await posted(relay, tenant);
  await page.goto(`${pages}/events`);
  await firstRow(page).waitFor();
  const delays: number[] = [];
  for (let count = 1; count <= liveEvents; count += 1) {
    await posted(relay, tenant);
    const from = performance.now();
    await page.getByRole("button", { name: `${count} new` }).waitFor();
    delays.push(performance.now() - from);
  }
  return delays.sort((one, other) => one - other)[Math.ceil(liveEvents * 0.95) - 1] ?? NaN;
}

/** The page's heap after a tail of many events on the visible list, in bytes. */
async function heapAfterTail(relay: RelayProcess, page: Page, tenant: TenantRecord): Promise<number> {
  const count = tailEvents / tailPosters;
  await Promise.all(Array.from({ length: tailPosters }, async () => {
    for (let event = 0; event < count; event += 1) await posted(relay, tenant);
  }));
  await page.getByRole("button", { name: "100 or more new" }).click();
  await untilIdle(page);
  const devtools = await page.context().newCDPSession(page);
  await devtools.send("HeapProfiler.collectGarbage");
  return (await devtools.send("Runtime.getHeapUsage")).usedSize;
}

function heapFigure(bytes: number): Figure {
  const bounds = { better: "lower", floor: 100, aim: 50, unit: "MiB" } as const;
  const note = "the page's heap after a collection; the list is shown";
  return { id: "D7", what: `memory after a tail of ${tailEvents} events`, bounds, measured: bytes / 2 ** 20, note };
}

function figuresOf(taken: readonly Round[]): Figure[] {
  const figure = (id: string, what: string, floor: number, of: (round: Round) => number): Figure => {
    const values = taken.map(of);
    const note = `by round: ${listed(values)}; the median counts`;
    return { id, what, bounds: { better: "lower", floor, aim: floor / 2, unit: "ms" }, measured: median(values), note };
  };
  return [
    figure("D1", `rows on screen, cold, ${events} events stored`, 400, ({ cold }) => cold),
    figure("D2", "the same at a quarter of the CPU", 1_000, ({ coldSlow }) => coldSlow),
    figure("D3", "from a key to the last row of the list", 200, ({ toEnd }) => toEnd),
    figure("D4", `from a key to the frame after it is shown, worst of ${keys}`, 50, ({ worstKey }) => worstKey),
    figure("D5", `from a key to the story of ${attempts} attempts beside the list`, 300, ({ story }) => story),
    figure("D6", "from the answer to a post until the list tells of it, p95", 500, ({ liveP95 }) => liveP95),
  ];
}
