import { expect } from "chai";
import type { Page } from "playwright-core";
import { chromiumOrSkip, type Chromium } from "./chromium.ts";
import { startReceiver, type Receiver, type ReceiverOptions } from "./receiver.ts";
import { startTestRelay, type TestRelay } from "./relay.ts";

/** A page of the dashboard in a browser, watched for forbidden requests and errors. */
export interface Visit {
  readonly page: Page;
  /** Goes to a page by its path below `/app`. */
  go(path: string): Promise<void>;
  /** Resolves when the page has its heading, and nothing of it is being loaded. */
  loaded(): Promise<void>;
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
    loaded: async () => {
      await page.locator("h1").first().waitFor();
      const loading = page.getByRole("status", { name: "Loading" });
      while (await loading.count() > 0) await loading.first().waitFor({ state: "detached" });
    },
    expectNoFault: () => expect(faults).to.deep.equal([]),
    close: () => page.close(),
  };
}

/** A person's login. */
export interface Login {
  readonly email: string;
  readonly password: string;
}

/** Signs in on the sign-in page, wherever it was asked for. */
export async function signIn({ page }: Pick<Visit, "page">, { email, password }: Login): Promise<void> {
  await page.getByLabel("Email").fill(email);
  await page.getByLabel("Password").fill(password);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("button", { name: "Account and preferences" }).waitFor();
}

/** The address of a relay for browsers: at localhost they take its session without TLS. */
export function atLocalhost(url: string): string {
  return url.replace("127.0.0.1", "localhost");
}

/** The parts that a suite of the dashboard's tests runs on. */
export interface DashboardStage {
  readonly browser: Chromium;
  readonly relay: TestRelay;
  /** Fails where the suite asked for none. */
  readonly receiver: Receiver;
  /** The relay's address for the browser. */
  readonly origin: string;
  /** Opens a page, at another address if one is given. After the test it is checked and closed; its session is gone. */
  visit(origin?: string): Promise<Visit>;
}

/** Makes the parts before the tests of the suite that calls this, and ends them after them. */
export function dashboardStage(
  { receiver: receiverOptions, env }: {
    /** Options of a receiver; without them there is none. */
    readonly receiver?: ReceiverOptions;
    /** Settings of the relay. */
    readonly env?: Readonly<Record<string, string>>;
  } = {},
): DashboardStage {
  let [browser, receiver, relay]: [Chromium?, Receiver?, TestRelay?] = [];
  const visits: Visit[] = [];
  before(async function () {
    browser = await chromiumOrSkip(this, { bypassCSP: false });
    receiver = receiverOptions && await startReceiver(receiverOptions);
    relay = await startTestRelay(receiver ?? null, env);
  });
  after(async () => {
    await browser?.close();
    await relay?.close();
    await receiver?.close();
  });
  afterEach(async () => {
    if (visits.length === 0) return;
    const ended = visits.splice(0);
    try {
      for (const one of ended) one.expectNoFault();
    } finally {
      for (const one of ended) await one.close();
      await browser?.context.clearCookies();
    }
  });
  const stage: DashboardStage = {
    get browser() {
      return browser ?? expect.fail("no browser");
    },
    get relay() {
      return relay ?? expect.fail("no relay");
    },
    get receiver() {
      return receiver ?? expect.fail("no receiver");
    },
    get origin() {
      return atLocalhost(stage.relay.url);
    },
    async visit(origin = stage.origin) {
      const opened = await visit(stage.browser, origin);
      visits.push(opened);
      return opened;
    },
  };
  return stage;
}
