/**
 * Takes pictures of the dashboard on a relay with fixed data. `npm run pictures` writes those of docs/dashboard.md;
 * with a folder, `npm run pictures -- FOLDER`, it writes every page there, light and dark, wide and narrow.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { endAll } from "../test/support/at-end.ts";
import { startChromium } from "../test/support/chromium.ts";
import { atLocalhost, signIn, visit, type Visit } from "../test/support/dashboard.ts";
import { furnish, furnishedReceiver, type Furnished } from "../test/support/furnished-tenant.ts";
import { startReceiver } from "../test/support/receiver.ts";
import { startTestRelay } from "../test/support/relay.ts";

const [folder] = process.argv.slice(2);
const documents = join(import.meta.dirname, "../docs/pictures");

const receiver = await startReceiver({ record: false, script: furnishedReceiver() });
const relay = await startTestRelay(receiver, { RELAY_RETRY_SCHEDULE: "400ms,900ms", RELAY_LOG_LEVEL: "error" });
const browser = await startChromium({ bypassCSP: false });
try {
  const shop = await furnish(relay.url, `https://127.0.0.1:${receiver.port}`, { ownerEmail: "ada@acme.example" });
  const seen = await visit(browser, atLocalhost(relay.url));
  await seen.go("/login");
  await seen.loaded();
  if (folder !== undefined) await take(seen, join(folder, "login.png"));
  await signIn(seen, shop);
  const pages = pagesOf(shop);
  if (folder === undefined) {
    for (const name of ["overview", "events", "story", "destination"]) {
      await show(seen, pages[name] ?? "/", { theme: "light", width: 1200 });
      await take(seen, join(documents, `${name}.png`));
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

/** Every page with content, by the name of its picture. */
function pagesOf({ events, destinationId, senderId }: Furnished): Readonly<Record<string, string>> {
  return {
    overview: "/", start: "/start", events: "/events", panel: `/events?event=${events.failed}`,
    story: `/events/${events.retried}`, "story-failed": `/events/${events.failed}`, destinations: "/destinations",
    destination: `/destinations/${destinationId}`, "destination-circuit": `/destinations/${destinationId}?tab=circuit`,
    "destination-settings": `/destinations/${destinationId}?tab=settings`,
    "destination-changes": `/destinations/${destinationId}?tab=changes`,
    senders: "/senders", sender: `/senders/${senderId}`, operations: "/operations", audit: "/audit", keys: "/keys",
    people: "/people", settings: "/settings",
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
