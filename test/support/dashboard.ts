import { expect } from "chai";
import type { Page } from "playwright-core";
import type { Chromium } from "./chromium.ts";

/** A page of the dashboard in a browser, watched for what no page may do. */
export interface Visit {
  readonly page: Page;
  /** Goes to a page by its path below `/app`. */
  go(path: string): Promise<void>;
  /** Fails if the page broke its policy, asked another address, or threw an error. */
  expectNoFault(): void;
  close(): Promise<void>;
}

/** Opens a page of the relay at an address, such as `http://localhost:8080`, with its path where a proxy has one. */
export async function visit(browser: Chromium, origin: string): Promise<Visit> {
  const page = await browser.context.newPage();
  const faults: string[] = [];
  page.on("console", (message) => {
    if (/Content Security Policy|TrustedHTML|TrustedScript/.test(message.text())) faults.push(message.text());
  });
  page.on("pageerror", (error) => faults.push(error.stack ?? error.message));
  page.on("request", (request) => {
    if (!request.url().startsWith(`${origin}/`)) faults.push(`asked ${request.url()}`);
  });
  return {
    page,
    go: async (path) => {
      await page.goto(`${origin}/app${path}`);
    },
    expectNoFault: () => expect(faults).to.deep.equal([]),
    close: () => page.close(),
  };
}

/** Signs in on the sign-in page, wherever it was asked for. */
export async function signIn(
  { page }: Visit, { email, password }: { readonly email: string; readonly password: string },
): Promise<void> {
  await page.getByLabel("Email").fill(email);
  await page.getByLabel("Password").fill(password);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("navigation", { name: "Pages" }).waitFor();
}
