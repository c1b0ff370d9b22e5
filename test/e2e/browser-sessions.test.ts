import { once } from "node:events";
import { createServer as createHttpServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import type { Page } from "playwright-core";
import { chromiumOrSkip, type Chromium } from "../support/chromium.ts";
import { proxyOrSkip, type Proxy } from "../support/proxies.ts";
import { openAccount, startTestRelay, type Account, type TestRelay } from "../support/relay.ts";

/** Sends a request as a script of the page does. */
function ask(page: Page, method: string, path: string, body?: object) {
  return page.evaluate(async ([how, target, json]) => {
    const sent = json === undefined ? {} : { body: json, headers: { "content-type": "application/json" } };
    const answer = await fetch(target, { method: how, ...sent });
    return { status: answer.status, text: await answer.text() };
  }, [method, path, body && JSON.stringify(body)] as const);
}

describe("sessions in Chromium", () => {
  let browser: Chromium | undefined;
  let relay: TestRelay | undefined;
  let account: Account;
  before(async function () {
    browser = await chromiumOrSkip(this);
    relay = await startTestRelay(null, { RELAY_TRUSTED_PROXIES: "1" });
    account = await openAccount(relay.url);
  });
  after(async () => {
    await browser?.close();
    await relay?.close();
  });

  beforeEach(() => browser?.context.clearCookies());

  const signsInReloadsAndSignsOut = (origin: () => string) => async () => {
    const page = await browser!.context.newPage();
    await page.goto(`${origin()}/docs`);
    expect((await ask(page, "GET", "/api/v1/me")).status).to.equal(401);
    const { email, password } = account;
    const opened = await ask(page, "POST", "/api/v1/auth/session", { email, password });
    expect(opened.status, opened.text).to.equal(200);
    await page.reload();
    expect(await page.evaluate("document.cookie"), "cookies that scripts can read").to.equal("");
    const me = await ask(page, "GET", "/api/v1/me");
    expect(me.status, me.text).to.equal(200);
    expect((await ask(page, "POST", "/api/v1/auth/session/renewal")).status).to.equal(200);
    expect((await ask(page, "GET", "/api/v1/me")).status).to.equal(200);
    expect((await ask(page, "DELETE", "/api/v1/auth/session")).status).to.equal(204);
    await page.reload();
    expect((await ask(page, "GET", "/api/v1/me")).status).to.equal(401);
    expect(await browser!.context.cookies(origin())).to.deep.equal([]);
    await page.close();
  };
  const local = () => relay!.url.replace("127.0.0.1", "localhost");

  describe("at plain localhost", () => {
    it("a page signs in, reloads, and signs out", signsInReloadsAndSignsOut(local));

    it("a form of another site gets 403 and changes nothing, though the browser has the cookie", async () => {
      const site = await startSite(`${local()}/api/v1/events/purge`);
      const page = await browser!.context.newPage();
      try {
        await page.goto(`${local()}/docs`);
        const { email, password } = account;
        await ask(page, "POST", "/api/v1/auth/session", { email, password });
        const { port } = site.address() as AddressInfo;
        const other = await browser!.context.newPage();
        await other.goto(`http://127.0.0.1:${port}/`);
        const posted = other.waitForResponse((answer) => answer.url().endsWith("/purge"));
        await other.click("button");
        // Chromium keeps a strict cookie back itself: then the relay sees a request without credentials.
        expect((await posted).status()).to.be.oneOf([401, 403]);
        await other.close();
        const [cookie] = await browser!.context.cookies(local());
        const forged = await fetch(`${relay!.url}/api/v1/events/purge`, {
          method: "POST", body: "{}",
          headers: {
            "content-type": "application/json", "sec-fetch-site": "cross-site",
            cookie: `${cookie?.name}=${cookie?.value}`,
          },
        });
        expect(forged.status).to.equal(403);
        expect((await ask(page, "GET", "/api/v1/me")).status).to.equal(200);
      } finally {
        await page.close();
        site.close();
      }
    });
  });

  describe("behind TLS", () => {
    let proxy: Proxy | undefined;
    before(async function () {
      proxy = await proxyOrSkip(this, "nginx", new URL(relay!.url).host);
    });
    after(() => proxy?.close());

    it("a page signs in, reloads, and signs out", signsInReloadsAndSignsOut(() => `https://localhost:${proxy!.port}`));
  });
});

/** A site with a form that posts to an address. */
async function startSite(action: string): Promise<Server> {
  const form = `<form method="post" action="${action}"><input name="before"><button>win</button></form>`;
  const server = createHttpServer((_request, response) => {
    response.writeHead(200, { "content-type": "text/html" }).end(form);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return server;
}
