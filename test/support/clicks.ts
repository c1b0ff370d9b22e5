import type { Page } from "playwright-core";

/** Counts the presses of the mouse on a page from now on, until it is loaded again. The result tells their number. */
export async function countClicks(page: Page): Promise<() => Promise<number>> {
  await page.evaluate("window.clicks = 0; addEventListener('mousedown', () => { window.clicks += 1; }, true)");
  return () => page.evaluate<number>("window.clicks");
}
