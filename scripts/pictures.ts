/**
 * Takes pictures of the dashboard on a relay with fixed data. `npm run pictures` writes those of docs/dashboard.md;
 * with a folder, `npm run pictures -- FOLDER`, it writes every page there, light and dark, wide and narrow.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { setTimeout as pause } from "node:timers/promises";
import type { RelayClient } from "../packages/client/src/index.ts";
import { endAll } from "../test/support/at-end.ts";
import { startChromium } from "../test/support/chromium.ts";
import { atLocalhost, signIn, visit, type Visit } from "../test/support/dashboard.ts";
import { furnish, furnishedReceiver, type Furnished } from "../test/support/furnished-tenant.ts";
import { startReceiver } from "../test/support/receiver.ts";
import { startTestRelay } from "../test/support/relay.ts";

const [folder] = process.argv.slice(2);
const documents = join(import.meta.dirname, "../docs/pictures");

const dayMs = 86_400_000;
const stepMs = 1_800_000;
/** How far the wall clock of this process, which is the relay's, too, is behind. */
let behindMs = dayMs;
const { now } = Date;
Date.now = () => now() - behindMs;

let isOut = false;
const answered = furnishedReceiver();
const receiver = await startReceiver({
  record: false,
  script: (request) => isOut && request.path === "/flaky" ? { status: 503, body: "maintenance" } : answered(request),
});
const relay = await startTestRelay(receiver, {
  RELAY_RETRY_SCHEDULE: "400ms,900ms", RELAY_LOG_LEVEL: "error", RELAY_ACCESS_TOKEN_TTL: "2d",
});
const browser = await startChromium({ bypassCSP: false });
try {
  const shop = await furnish(relay.url, `https://127.0.0.1:${receiver.port}`, {
    ownerEmail: "ada@acme.example", earlier: aDay,
  });
  await nameDestinations(shop.owner);
  const seen = await visit(browser, atLocalhost(relay.url));
  await seen.go("/login");
  await seen.loaded();
  if (folder !== undefined) await take(seen, join(folder, "login.png"));
  await signIn(seen, shop);
  const pages = pagesOf(shop);
  if (folder === undefined) {
    for (const name of ["overview", "events", "story", "message", "destination"]) {
      for (const [theme, suffix] of [["light", ""], ["dark", "-dark"]] as const) {
        await show(seen, pages[name] ?? "/", { theme, width: 1280 });
        await take(seen, join(documents, `${name}${suffix}.png`));
      }
    }
  } else {
    for (const [name, path] of Object.entries(pages)) {
      for (const theme of ["light", "dark"] as const) {
        for (const width of [1280, 320]) {
          await show(seen, path, { theme, width });
          await take(seen, join(folder, `${name}-${theme}-${width}.png`));
        }
      }
    }
  }
} finally {
  await endAll();
  await relay.close();
  await receiver.close();
}

/** The traffic of a day, in half hours: more by day than by night, and an outage of the flaky receiver at noon. */
async function aDay(owner: RelayClient, post: (order: number, flaky: boolean) => Promise<void>): Promise<void> {
  let order = 100;
  for (let step = 0; behindMs > 0; step += 1) {
    isOut = step >= 30 && step < 33;
    const events = Math.round(3 + 14 * Math.sin((Math.PI * step * stepMs) / dayMs) ** 2 + (step * 7) % 5);
    // A suspended destination refuses posts.
    for (let n = 0; n < events; n += 1) await post(order += 1, n % 9 === 8).catch(() => undefined);
    // In the outage the circuit opens, and holds the rest until it is over.
    await (isOut ? pause(2_500) : allSent(owner));
    behindMs -= stepMs;
  }
}

/** Names the destinations for people, as a tenant with many customers does. */
async function nameDestinations(owner: RelayClient): Promise<void> {
  const names: Readonly<Record<string, string>> = {
    "/orders": "Warehouse", "/flaky": "Billing", "/dead": "Loyalty programme", "/old": "Old shop",
  };
  for await (const { id, url } of owner.listDestinations({ Qt: 100 })) {
    const name = names[new URL(url).pathname];
    if (name !== undefined) await owner.updateDestination({ id }, { name });
  }
}

/** Waits until no event waits, but not for long: a circuit may hold some. */
async function allSent(owner: RelayClient): Promise<void> {
  for (let looks = 0; looks < 40; looks += 1) {
    const waiting = await owner.listEvents({ Status: ["Pending", "Processing", "WaitingRetry"], Qt: 1, Total: false });
    if (waiting.items.length === 0) return;
    await pause(50);
  }
}

/** Every page with content, by the name of its picture. */
function pagesOf(shop: Furnished): Readonly<Record<string, string>> {
  const { events, messageId, destinationId, senderId, fanOutSenderId, incidentId } = shop;
  return {
    overview: "/", start: "/start", incidents: "/incidents", incident: `/incidents/${incidentId}`,
    events: "/events", panel: `/events?event=${events.failed}`, story: `/events/${events.retried}`,
    messages: "/messages", message: `/messages/${messageId}`,
    "story-failed": `/events/${events.failed}`, destinations: "/destinations",
    destination: `/destinations/${destinationId}`, "destination-circuit": `/destinations/${destinationId}?tab=circuit`,
    "destination-subscriptions": `/destinations/${destinationId}?tab=subscriptions`,
    "destination-settings": `/destinations/${destinationId}?tab=settings`,
    "destination-changes": `/destinations/${destinationId}?tab=changes`,
    senders: "/senders", sender: `/senders/${senderId}`, subscriptions: `/senders/${fanOutSenderId}`,
    operations: "/operations", audit: "/audit", keys: "/keys",
    "webhook-secret": "/keys?tab=secret", people: "/people", settings: "/settings",
    notifications: "/settings?tab=notifications", "portal-links": "/settings?tab=portal", account: "/account",
  };
}

async function show(
  seen: Visit, path: string, { theme, width }: { readonly theme: "light" | "dark"; readonly width: number },
): Promise<void> {
  await seen.page.setViewportSize({ width, height: 800 });
  await seen.page.emulateMedia({ colorScheme: theme, reducedMotion: "reduce" });
  await seen.go(path);
  await seen.loaded();
}

async function take({ page }: Visit, path: string): Promise<void> {
  mkdirSync(join(path, ".."), { recursive: true });
  await page.screenshot({ path, fullPage: folder !== undefined });
}
