import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium, type BrowserContext } from "playwright-core";
import { commandPath, commandProblem } from "./debian.ts";

/** A running browser with a profile of its own. */
export interface Chromium {
  readonly context: BrowserContext;
  close(): Promise<void>;
}

const flags = [
  "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync",
];

/**
 * Starts Debian's Chromium without a window, for a `before` hook. It takes any certificate. Where it is neither
 * installed nor can be, its tests are skipped by name, but never in CI. By default it ignores the policies of pages.
 */
export async function chromiumOrSkip(
  hook: Mocha.Context, { bypassCSP = true }: { readonly bypassCSP?: boolean } = {},
): Promise<Chromium> {
  hook.timeout(600_000);
  const problem = commandProblem("chromium", "--version", ["chromium"]);
  if (problem !== null) {
    if (process.env["CI"] === "true") throw new Error(problem);
    console.log(`  chromium for the tests: ${problem}`);
    return hook.skip();
  }
  return startChromium({ bypassCSP });
}

/** Starts Debian's Chromium without a window. It takes any certificate. Rejects where it is not installed. */
export async function startChromium({ bypassCSP }: { readonly bypassCSP: boolean }): Promise<Chromium> {
  const profile = mkdtempSync(join(tmpdir(), "relay-chromium-"));
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: commandPath("chromium"), headless: true, args: flags, ignoreHTTPSErrors: true, bypassCSP,
  });
  return {
    context,
    close: async () => {
      await context.close();
      rmSync(profile, { recursive: true, force: true });
    },
  };
}
