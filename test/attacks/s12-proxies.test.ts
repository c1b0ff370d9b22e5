import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { get } from "node:https";
import { connect } from "node:tls";
import { expect } from "chai";
import { operations } from "../../packages/client/src/operations.ts";
import { ApiClient, text } from "../support/api-client.ts";
import { proxyOrSkip, type Proxy, type ProxyName } from "../support/proxies.ts";
import { openAccount, startTestRelay, type TestRelay } from "../support/relay.ts";

const atOnce = 8;
const least = 1_000;

/** Texts that a parser of paths may take for a slash, for nothing, or for a detour. */
const slashes = [
  "//", "///", "\\", "/\\", "\\/", "%2f", "%5c", "/./", "/%2e/", "/x/../", "/x/%2e%2e/", "/x/.%2E/", "/x/..%2f", "/;/",
  "/..;/", "/x/..;/", "/x\\..\\", "/%00/", "/\t", "/\xa0", "/%c0%af", "/%252f",
];
const tails = [
  "", "?", "?x", "?/../x", "#", "#x", "#/../x", "?#", ";", ";x=y", "/", "//", "/.", "/x/..", "/x/%2e%2e", "\\",
  "\\..\\x", "%20", "%09", "%00", "%0d%0a", "%23", "%3f", "%", "\x7f", "\xa0", "\xff",
];
const few = ["", "#", "?x", "/"];
const heads = [
  "http://relay.example", "https://relay.example:8080", "HTTP://user@relay.example", "http://[::1]",
  "http://relay.example/x/..", "http://relay.example/%2e", "http://relay.example\\", "http://relay.example#",
  "//relay.example", "/x/..", "/%2e", "/x/..%2f..", "\\", "*", "relay.example",
];

/** Request targets that some parser may take for the path; among them the path itself, with a query, in a URL. */
function spellingsOf(path: string): ReadonlySet<string> {
  const respelt = [...path].flatMap((character, at) => {
    const hex = character.charCodeAt(0).toString(16);
    const others = [`%${hex}`, `%${hex.toUpperCase()}`, `%25${hex}`, character.toUpperCase()];
    return others.map((other) => path.slice(0, at) + other + path.slice(at + 1));
  });
  const cut = [...path].flatMap((character, at) => (character === "/" ? [at] : [])).flatMap((at) =>
    slashes.map((slash) => path.slice(0, at) + slash + path.slice(at + 1)));
  const product = (befores: readonly string[], paths: readonly string[], afters: readonly string[]) =>
    befores.flatMap((before) => paths.flatMap((one) => afters.map((after) => before + one + after)));
  return new Set([
    ...product([""], [...respelt, path.toUpperCase(), path.replaceAll("/", "\\")], few),
    ...product([""], cut, tails),
    ...product(["", ...heads], [path], tails),
    ...product(heads, cut.slice(-slashes.length), ["", "#"]),
  ]);
}

type Headers = Readonly<Record<string, string>>;

/** Sends one request with an unchanged target over its own connection; returns the answer, perhaps empty. */
async function ask(proxy: Proxy, method: string, target: string, body: string, headers: Headers = {}): Promise<string> {
  const socket = connect({ port: proxy.port, host: "127.0.0.1", ca: proxy.caPem }).setEncoding("latin1");
  socket.on("error", () => undefined);
  const all = {
    ...headers, Host: "relay.example", "Content-Type": "application/json", "Content-Length": String(body.length),
    Connection: "close",
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`).join("");
  socket.write(`${method} ${target} HTTP/1.1\r\n${lines}\r\n${body}`, "latin1");
  let answer = "";
  socket.on("data", (piece: string) => (answer += piece));
  await once(socket, "close");
  return answer;
}

/** Sends each of the targets; returns the heads of answers other than 4xx and 5xx. */
async function passed(proxy: Proxy, method: string, targets: ReadonlySet<string>, body: string) {
  const waiting = targets.values();
  const through: string[] = [];
  await Promise.all(Array.from({ length: atOnce }, async () => {
    for (const target of waiting) {
      const answer = await ask(proxy, method, target, body);
      if (!/^$|^HTTP\/1\.[01] [45]/.test(answer)) through.push(`${method} ${target}: ${answer.slice(0, 100)}`);
    }
  }));
  return through;
}

for (const name of ["nginx", "haproxy"] satisfies ProxyName[]) {
  describe(`S12 paths closed by ${name}, configured as the guide has it`, () => {
    let relay: TestRelay;
    let proxy: Proxy | undefined;
    before(async function () {
      relay = await startTestRelay(null, { RELAY_TRUSTED_PROXIES: "1" });
      proxy = await proxyOrSkip(this, name, new URL(relay.url).host);
    });
    after(async () => {
      await proxy?.close();
      await relay.close();
    });

    for (const path of ["/metrics", "/readyz"]) {
      it(`${path} is closed in every spelling`, async () => {
        const targets = spellingsOf(path);
        expect(targets.size).to.be.at.least(least);
        expect(await passed(proxy!, "GET", targets, "")).to.deep.equal([]);
        expect((await fetch(relay.url + path)).status).to.equal(200);
      });
    }

    it("/api/v1/tenants is closed in every spelling: no tenant is made", async () => {
      const tenant = { name: "closed", ownerEmail: "owner@closed.example", ownerPassword: "correct horse" };
      const targets = spellingsOf("/api/v1/tenants");
      expect(targets.size).to.be.at.least(least);
      expect(await passed(proxy!, "POST", targets, JSON.stringify(tenant))).to.deep.equal([]);
      // Its name and its Owner's email are still free.
      expect(text(await new ApiClient(relay.url).post("/api/v1/tenants", tenant), "tenantId")).to.be.a("string");
    });

    it("every other path is open, and answered by the relay", async () => {
      const closed = new Set(["GET /metrics", "GET /readyz", "POST /api/v1/tenants"]);
      const served = Object.values(operations).map(({ method, path }) => `${method} ${path.replace(/\{\w+\}/g, "none")}`);
      const unanswered = await Promise.all([...served, "GET /app/", "GET /"].map(async (one) => {
        const [method = "", path = ""] = one.split(" ");
        const isOpen = /^x-request-id: /im.test(await ask(proxy!, method, path, ""));
        return isOpen === closed.has(one) ? [one] : [];
      }));
      expect(unanswered.flat()).to.deep.equal([]);
    });

    it("open paths are open: an event is posted, and found", async () => {
      const account = await openAccount(relay.url);
      const { ingest } = await account.destination({ url: "https://receiver.example/" });
      const accepted = await ask(proxy!, "POST", ingest, "{}", account.producer.headers);
      expect(accepted).to.match(/^HTTP\/1\.1 202 /);
      const [, eventId = ""] = /"eventId":"([^"]+)"/.exec(accepted) ?? [];
      const found = await ask(proxy!, "GET", `/api/v1/events/${eventId}`, "", account.owner.headers);
      expect(found).to.match(/^HTTP\/1\.1 200 /);
    });
  });
}

for (const [name, how, options] of [
  ["nginx", "configured as the guide has it", {}],
  ["haproxy", "configured as the guide has it", {}],
  ["nginx", "with the defaults of Debian's package", { isUntuned: true }],
] as const satisfies readonly (readonly [ProxyName, string, object])[]) {
  describe(`the stream behind ${name} with TLS, ${how}`, () => {
    let relay: TestRelay;
    let proxy: Proxy | undefined;
    before(async function () {
      relay = await startTestRelay(null, { RELAY_TRUSTED_PROXIES: "1" });
      proxy = await proxyOrSkip(this, name, new URL(relay.url).host, options);
    });
    after(async () => {
      await proxy?.close();
      await relay.close();
    });

    it("has each frame within a second of its entry", async () => {
      const account = await openAccount(relay.url);
      const { ingest } = await account.destination({ url: "https://receiver.example/" });
      const stream = get({
        host: "127.0.0.1", port: proxy!.port, path: "/api/v1/stream", ca: proxy!.caPem, headers: account.owner.headers,
        servername: "localhost", agent: false,
      });
      const [answer] = (await once(stream, "response")) as [IncomingMessage];
      expect(answer.headers["content-type"]).to.match(/^text\/event-stream/);
      let seen = "";
      answer.on("data", (chunk) => (seen += String(chunk)));
      for (let count = 0; count < 3; count += 1) {
        const accepted = await new ApiClient(relay.url).as(account.producer.headers).post(ingest, {});
        const postedAt = performance.now();
        while (!seen.includes(text(accepted, "eventId"))) await once(answer, "data");
        expect(performance.now() - postedAt).to.be.below(1_000);
      }
      stream.destroy();
    });
  });
}
