import { once } from "node:events";
import { connect } from "node:net";
import { expect } from "chai";
import { illegalTarget } from "../../src/http/requests/target.ts";
import { openAccount, openIngest } from "../support/accounts.ts";
import { startApi, type TestApi } from "../support/api.ts";
import { inMemoryEngines, type InMemoryEngines } from "../support/api-engines.ts";
import { operations } from "../support/document.ts";

describe("request targets", () => {
  let engines: InMemoryEngines;
  let api: TestApi;
  let ingest: Awaited<ReturnType<typeof openIngest>>;
  before(async () => {
    engines = await inMemoryEngines();
    api = await startApi(engines);
    const { owner, tenantId } = await openAccount(api.url);
    ingest = await openIngest(owner.client, tenantId);
  });
  after(async () => {
    await api.close();
    await engines.close();
  });
  afterEach(() => expect(api.errors).to.deep.equal([]));

  /** Sends a head without a body and with an unchanged target; returns status and text. */
  const ask = async (method: string, target: string): Promise<readonly [status: number, text: string]> => {
    const socket = connect(Number(new URL(api.url).port), "127.0.0.1").setEncoding("latin1");
    const headers = "Host: relay.example\r\nContent-Length: 0\r\nConnection: close";
    socket.write(`${method} ${target} HTTP/1.1\r\n${headers}\r\n\r\n`, "latin1");
    let answer = "";
    socket.on("data", (text: string) => (answer += text));
    await once(socket, "close");
    return [Number(answer.split(" ")[1]), answer.split("\r\n\r\n")[1] ?? ""];
  };

  it("give 400 if they have a character forbidden in paths and queries", async () => {
    const characters = [..."#\\\"<>[]^`{|}\x7f\x80\xa0\xff"];
    for (const path of ["/metrics", "/nothing", ingest.path, "http://relay.example/metrics"]) {
      for (const character of characters) {
        const [tail, query] = [`${path}${character}`, `${path}?a=${character}`];
        const inside = path.replace(/\/(?=[^/]+$)/, character);
        for (const target of [tail, query, inside, `${tail}/../metrics`]) {
          const method = path === ingest.path ? "POST" : "GET";
          const [status, text] = await ask(method, target);
          // An authority may have brackets; the HTTP parser checks it, too.
          const told = [illegalTarget, "the request is not HTTP/1.1 that can be read"];
          expect([status, told.includes(text)], `${method} ${target}`).to.deep.equal([400, true]);
        }
      }
    }
  });

  it("give 400 if their query has a % without two hexadecimal digits, on every operation", async () => {
    const files = ["/app", "/app/events", "/app/assets/x.js", "/", "/nothing"];
    const paths = [...files.map((path) => ({ method: "GET", path })), ...operations];
    for (const { method, path } of paths) {
      const target = path.replaceAll(/:\w+/g, "0193a1b2-0000-7000-8000-00000000ffff");
      for (const query of ["%zz", "a=%", "a=%4", "a=1&b=%4g", "%=1", "a=%25%"]) {
        for (const before of ["", "http://relay.example"]) {
          const asked = `${before}${target}?${query}`;
          expect(await ask(method, asked), `${method} ${asked}`).to.deep.equal([400, illegalTarget]);
        }
      }
    }
    expect(await ask("POST", `${ingest.path}?%zz`)).to.deep.equal([400, illegalTarget]);
    expect(await ask("GET", "/healthz?a=%7a%7A%25")).to.deep.equal([200, "ok"]);
  });

  it("give 404 for dot segments, plain or encoded, also in place of an id", async () => {
    for (const dots of [".", "..", "%2e", "%2E%2e", ".%2E", "%2e."]) {
      for (const target of [
        `/x/${dots}/metrics`, `/${dots}/metrics`, `/metrics/${dots}`, `/api/v1/users/${dots}`,
        `/api/v1/events/${dots}/history`, `/api/v1/tenants/${dots}/webhook-secret`, `/api/v1/x/${dots}/users`,
        `/api/v1/ingest/${dots}/${ingest.ingestToken}`, `${ingest.path.replace(/[^/]+$/, "")}${dots}`,
      ]) {
        for (const method of ["GET", "POST", "PATCH", "OPTIONS"]) {
          for (const before of ["", "http://relay.example"]) {
            const answer = await ask(method, before + target);
            expect(answer, `${method} ${before}${target}`).to.deep.equal([404, "no such path"]);
          }
        }
      }
    }
  });

  it("give 404 for any other spelling of a path, in origin form and in absolute form", async () => {
    const literal = ["/metrics", "/readyz", "/docs", "/api/v1/tenants", "/api/v1/auth/login"];
    for (const path of literal) {
      const encoded = `%${path.charCodeAt(1).toString(16)}`;
      const spellings = [
        `/${path}`, path.replaceAll("/", "//"), `${path}/`, `${path}%2f`, `${path};`, `${path};a=b`, `${path}%20`,
        `${path}%3f`, `${path}%23`, `${path}%00`, `/${encoded}${path.slice(2)}`, `/${path.slice(1)}%5c`,
        `/${encoded.replace("%", "%25")}${path.slice(2)}`, path.replaceAll("/", "/%2f"), path.toUpperCase(),
        `/x/..%2f${path.slice(1)}`, `/x%2f..${path}`,
      ];
      for (const spelling of spellings) {
        for (const before of ["", "http://relay.example", "HTTPS://user@relay.example:1"]) {
          expect((await ask("GET", before + spelling))[0], before + spelling).to.equal(404);
        }
      }
    }
  });

  it("may name the whole URL, with any host", async () => {
    for (const target of ["http://relay.example/healthz", "HTTP://user@[::1]:80/healthz?a=/x/../y"]) {
      expect(await ask("GET", target), target).to.deep.equal([200, "ok"]);
    }
    for (const target of ["http://relay.example", "http://relay.example?/healthz"]) {
      expect(await ask("GET", target), target).to.deep.equal(await ask("GET", "/"));
    }
    expect(await ask("GET", "http://relay.example/x/../healthz")).to.deep.equal([404, "no such path"]);
    expect(await ask("GET", "ftp://relay.example/healthz")).to.deep.equal([400, illegalTarget]);
  });
});
