import { join } from "node:path";
import { expect } from "chai";
import { startApi, type TestApi } from "../support/api.ts";
import { inMemoryEngines } from "../support/api-engines.ts";

const pages = join(import.meta.dirname, "../../build/dashboard");

describe("serving the dashboard's pages", () => {
  let api: TestApi;
  before(async () => {
    api = await startApi(await inMemoryEngines(), { pages });
  });
  after(() => api.close());

  const ask = (path: string, init: RequestInit = {}) => fetch(api.url + path, { redirect: "manual", ...init });
  const assetIn = (html: string) => /(?:\.\.?\/)+assets\/index-[\w-]+\.js/.exec(html)?.[0] ?? expect.fail(html);

  it("sends a browser at the relay's address to them, and tells a program where the API is described", async () => {
    const browser = await ask("/", { headers: { accept: "text/html,application/xhtml+xml,*/*;q=0.8" } });
    expect([browser.status, browser.headers.get("location")]).to.deep.equal([302, "/app/"]);
    expect(await (await ask("/")).text()).to.include("/openapi.json");
  });

  it("leads from the path without a slash to the one with it, relative to the path that was asked for", async () => {
    const answer = await ask("/app");
    expect([answer.status, answer.headers.get("location")]).to.deep.equal([302, "app/"]);
  });

  for (const path of ["/app/", "/app/events", "/app/events/01a2", "/app/no/such/page"]) {
    it(`answers ${path} with the document, whose addresses lead to its files`, async () => {
      const answer = await ask(path);
      expect(answer.status).to.equal(200);
      expect(answer.headers.get("content-type")).to.equal("text/html; charset=utf-8");
      const script = new URL(assetIn(await answer.text()), answer.url);
      expect(script.pathname).to.match(/^\/app\/assets\/index-/);
      expect((await fetch(script)).status).to.equal(200);
    });
  }

  it("allows the document its own files only, no frame around it, and no markup from texts", async () => {
    const { headers } = await ask("/app/");
    expect(headers.get("content-security-policy")).to.equal(
      "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; font-src 'self'; " +
      "manifest-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; " +
      "require-trusted-types-for 'script'; trusted-types 'none'");
    expect(headers.get("cache-control")).to.equal("no-store");
    expect(headers.get("x-content-type-options")).to.equal("nosniff");
  });

  it("answers below /portal with the same document and files, and keeps the fragment of a link", async () => {
    const redirect = await ask("/portal");
    expect([redirect.status, redirect.headers.get("location")]).to.deep.equal([302, "portal/"]);
    for (const path of ["/portal/", "/portal/events/01a2"]) {
      const answer = await ask(path);
      const script = new URL(assetIn(await answer.text()), answer.url);
      expect(script.pathname).to.match(/^\/portal\/assets\/index-/);
      expect((await fetch(script)).status).to.equal(200);
      expect(answer.headers.get("content-security-policy")).to.include("frame-ancestors 'none';");
    }
    expect((await ask("/portals/")).status).to.equal(404);
    expect((await ask("/portal/logo")).status).to.equal(404);
  });

  it("lets only the named origins frame the portal, and none the dashboard; the logo runs nothing", async () => {
    const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>');
    const origins = ["https://app.example.com", "https://shop.example"];
    const framed = await startApi(await inMemoryEngines(), {
      pages, portalPages: { origins, logo: { type: "image/svg+xml", bytes: svg } },
    });
    const policyOf = async (path: string) => (await fetch(framed.url + path)).headers.get("content-security-policy");
    expect(await policyOf("/portal/")).to.include(`frame-ancestors ${origins.join(" ")};`);
    expect(await policyOf("/app/")).to.include("frame-ancestors 'none';");
    expect(await policyOf("/api/v1/portal/session")).to.include("frame-ancestors 'none'");
    const logo = await fetch(`${framed.url}/portal/logo`);
    expect(await logo.text()).to.equal(svg.toString());
    expect(logo.headers.get("content-type")).to.equal("image/svg+xml");
    expect(logo.headers.get("x-content-type-options")).to.equal("nosniff");
    expect(logo.headers.get("content-security-policy")).to.match(/^default-src 'none'; .*; sandbox$/);
    await framed.close();
  });

  it("sends files compressed where accepted, cached for good: their names change with their contents", async () => {
    const path = `/app/${assetIn(await (await ask("/app/")).text())}`.replace("/./", "/");
    const compressed = await ask(path, { headers: { "accept-encoding": "gzip" } });
    expect(compressed.headers.get("content-encoding")).to.equal("gzip");
    expect(compressed.headers.get("vary")).to.equal("Accept-Encoding");
    expect(compressed.headers.get("cache-control")).to.equal("public, max-age=31536000, immutable");
    expect(compressed.headers.get("content-type")).to.equal("text/javascript; charset=utf-8");
    const plain = await ask(path, { headers: { "accept-encoding": "identity" } });
    expect(plain.headers.get("content-encoding")).to.equal(null);
    expect(await plain.text()).to.equal(await compressed.text());
  });

  it("answers HEAD as GET without the body", async () => {
    const answer = await ask("/app/events", { method: "HEAD" });
    expect([answer.status, await answer.text()]).to.deep.equal([200, ""]);
  });

  it("refuses other methods", async () => {
    const answer = await ask("/app/events", { method: "POST" });
    expect([answer.status, answer.headers.get("allow")]).to.deep.equal([405, "GET, HEAD, OPTIONS"]);
    expect((await ask("/app/events", { method: "OPTIONS" })).status).to.equal(204);
  });

  for (const path of ["/app/assets/", "/app/assets/none.js", "/app/assets/..%2findex.html", "/application", "/App/"]) {
    it(`has no ${path}`, async () => {
      expect((await ask(path)).status).to.equal(404);
    });
  }

  it("serves none where they are switched off", async () => {
    const off = await startApi(await inMemoryEngines());
    expect((await fetch(`${off.url}/portal/`)).status).to.equal(404);
    try {
      for (const path of ["/app", "/app/", "/app/assets/index.js"]) {
        expect((await fetch(off.url + path)).status, path).to.equal(404);
      }
      expect((await fetch(off.url, { headers: { accept: "text/html" } })).status).to.equal(200);
    } finally {
      await off.close();
    }
  });
});
