/**
 * Takes pictures of the dashboard on a relay with fixed data. `npm run pictures` writes those of docs/dashboard.md;
 * with a folder, `npm run pictures -- FOLDER`, it writes every page there, light and dark, wide and narrow.
 */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { chromium, type Page } from "playwright-core";
import { commandPath } from "../test/support/debian.ts";
import { furnish, furnishedReceiver, type Furnished } from "../test/support/furnished-tenant.ts";
import { startReceiver } from "../test/support/receiver.ts";
import { startTestRelay } from "../test/support/relay.ts";

const [folder] = process.argv.slice(2);
const documents = join(import.meta.dirname, "../docs/pictures");
const profile = mkdtempSync(join(tmpdir(), "relay-pictures-"));

const receiver = await startReceiver({ record: false, script: furnishedReceiver() });
const relay = await startTestRelay(receiver, { RELAY_RETRY_SCHEDULE: "400ms,900ms", RELAY_LOG_LEVEL: "error" });
const browser = await chromium.launchPersistentContext(profile, {
  executablePath: commandPath("chromium"), headless: true, args: ["--no-sandbox", "--disable-gpu"],
});
try {
  const shop = await furnish(relay.url, `https://127.0.0.1:${receiver.port}`, { ownerEmail: "ada@acme.example" });
  const origin = `${relay.url.replace("127.0.0.1", "localhost")}/app`;
  const page = await browser.newPage();
  await page.goto(`${origin}/login`);
  if (folder !== undefined) await take(page, join(folder, "login.png"));
  await page.getByLabel("Email").fill(shop.email);
  await page.getByLabel("Password").fill(shop.password);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("navigation", { name: "Pages" }).waitFor();
  const pages = pagesOf(shop);
  if (folder === undefined) {
    for (const name of ["overview", "events", "story", "destination"]) {
      await show(page, `${origin}${pages[name]}`, { theme: "light", width: 1200 });
      await take(page, join(documents, `${name}.png`));
    }
  } else {
    for (const [name, path] of Object.entries(pages)) {
      for (const theme of ["light", "dark"] as const) {
        for (const width of [1280, 320]) {
          await show(page, `${origin}${path}`, { theme, width });
          await take(page, join(folder, `${name}-${theme}-${width}.png`));
        }
      }
    }
  }
} finally {
  await browser.close();
  await relay.close();
  await receiver.close();
  rmSync(profile, { recursive: true, force: true });
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
  page: Page, address: string, { theme, width }: { readonly theme: "light" | "dark"; readonly width: number },
): Promise<void> {
  await page.setViewportSize({ width, height: 800 });
  await page.emulateMedia({ colorScheme: theme, reducedMotion: "reduce" });
  await page.goto(address);
  await page.locator("h1").first().waitFor();
  const loading = page.locator(".loading");
  while (await loading.count() > 0) await loading.first().waitFor({ state: "detached" });
}

async function take(page: Page, path: string): Promise<void> {
  mkdirSync(join(path, ".."), { recursive: true });
  await page.screenshot({ path, fullPage: folder !== undefined });
}
