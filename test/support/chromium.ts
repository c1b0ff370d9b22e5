import { chromium, type Browser, type BrowserContext } from "playwright-core";
import { atEnd } from "./at-end.ts";
import { commandPath, commandProblem } from "./debian.ts";

/** A profile of its own in the browser of this process. */
export interface Chromium {
  readonly context: BrowserContext;
  /** Ends the profile; the browser runs on. */
  close(): Promise<void>;
}

/** Debian's Chromium without its own windows and menus: the same pages take a quarter less of the processor. */
const command = "chromium-headless-shell";

const flags = [
  "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync",
];

/**
 * {@link startChromium} for a `before` hook. Where it is neither installed nor can be, its tests are skipped by name,
 * but never in CI. By default it ignores the policies of pages.
 */
export async function chromiumOrSkip(
  hook: Mocha.Context, { bypassCSP = true }: { readonly bypassCSP?: boolean } = {},
): Promise<Chromium> {
  hook.timeout(600_000);
  const problem = commandProblem(command, "--version", [command]);
  if (problem !== null) {
    if (process.env["CI"] === "true") throw new Error(problem);
    console.log(`  Chromium for the tests: ${problem}`);
    return hook.skip();
  }
  return startChromium({ bypassCSP });
}

let running: Promise<Browser> | undefined;

/**
 * A new profile in Debian's Chromium, which all tests of a process share: it is started when first asked for, without a
 * window, and stopped at the process's end. It takes any certificate. Rejects where it is not installed.
 */
export async function startChromium({ bypassCSP }: { readonly bypassCSP: boolean }): Promise<Chromium> {
  if (!running) {
    running = chromium.launch({ executablePath: commandPath(command), headless: true, args: flags });
    atEnd(async () => (await running)?.close());
  }
  const context = await (await running).newContext({ ignoreHTTPSErrors: true, bypassCSP });
  return { context, close: () => context.close() };
}
