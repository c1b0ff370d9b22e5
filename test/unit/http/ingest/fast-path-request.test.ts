import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { duplexPair } from "node:stream";
import { buffer } from "node:stream/consumers";
import { expect } from "chai";
import fc from "fast-check";
import { ingestPath } from "../../../../src/features/ingest/operation.ts";
import { readFastPathRequest } from "../../../../src/http/ingest/fast-path-request.ts";

const maxBodyBytes = 1_000;
const url = "/api/v1/ingest/0193a1b2-0000-7000-8000-000000000001/dst_abc";
const usual = ["Host: relay", "Content-Type: application/json", "X-Api-Key: key"];

const characters = [..."abcdefghijklmnopqrstuvwxyz0123456789"];
const veryMany = characters.flatMap((one) => characters.map((other) => `${one}${other}: a`)).slice(0, 1_000);

/** A request of these parts. Its length is that of the body by default. */
function requestOf({
  line = `POST ${url} HTTP/1.1`, headers = usual, body = '{"a":1}', behind = "",
  length = undefined as string | undefined,
} = {}): Buffer {
  const lines = [line, ...headers, length ?? `Content-Length: ${body.length}`].filter((text) => text !== "");
  return Buffer.from(`${lines.join("\r\n")}\r\n\r\n${body}${behind}`, "latin1");
}

const read = (bytes: Buffer) => readFastPathRequest(bytes, maxBodyBytes);

describe("a fast-path request", () => {
  it("is read completely: path, headers and body", () => {
    const bytes = requestOf({ headers: [...usual, "X-Idempotency-Key: a, b c", "CONNECTION: Keep-Alive"] });
    expect(read(bytes)).to.deep.equal({
      path: { tenant: "0193a1b2-0000-7000-8000-000000000001", token: "dst_abc" },
      headers: {
        host: "relay", "content-type": "application/json", "x-api-key": "key", "x-idempotency-key": "a, b c",
        connection: "Keep-Alive", "content-length": "7",
      },
      body: Buffer.from('{"a":1}'),
    });
  });

  it("is incomplete wherever it is cut", () => {
    const bytes = requestOf();
    for (let end = 0; end < bytes.length; end += 1) {
      expect(read(bytes.subarray(0, end)), `${end}`).to.equal("incomplete");
    }
  });

  const others: Readonly<Record<string, Buffer>> = {
    "of another method": requestOf({ line: `PUT ${url} HTTP/1.1` }),
    "to another path": requestOf({ line: "POST /api/v1/tenants HTTP/1.1" }),
    "to a longer path": requestOf({ line: `POST ${url}/more HTTP/1.1` }),
    "to a path with a space": requestOf({ line: `POST ${url} x HTTP/1.1` }),
    "to a path in more than ASCII": requestOf({ line: `POST ${url}\xe9 HTTP/1.1` }),
    "of HTTP/1.0": requestOf({ line: `POST ${url} HTTP/1.0` }),
    "with a name in front": requestOf({ line: `POST http://relay${url} HTTP/1.1` }),
    "without a host": requestOf({ headers: usual.slice(1) }),
    "without a length": requestOf({ length: "" }),
    "in chunks": requestOf({ length: "Transfer-Encoding: chunked" }),
    "in chunks and of a length": requestOf({ headers: [...usual, "Transfer-Encoding: chunked"] }),
    "of two lengths": requestOf({ headers: [...usual, "Content-Length: 7"] }),
    "of a length with a sign": requestOf({ length: "Content-Length: +7" }),
    "of a length in another base": requestOf({ length: "Content-Length: 0x7" }),
    "of more than one length": requestOf({ length: "Content-Length: 7, 7" }),
    "longer than its length": requestOf({ behind: " " }),
    "with another behind it": requestOf({ behind: requestOf().toString() }),
    "with too large a body": requestOf({ body: "a".repeat(maxBodyBytes + 1) }),
    "that says a body is too large": requestOf({ length: `Content-Length: ${maxBodyBytes + 1}` }),
    "that expects an answer first": requestOf({ headers: [...usual, "Expect: 100-continue"] }),
    "that asks for another protocol": requestOf({ headers: [...usual, "Upgrade: h2c"] }),
    "that is the last": requestOf({ headers: [...usual, "Connection: close"] }),
    "that is the last, as proxies say it": requestOf({ headers: [...usual, "Proxy-Connection: close"] }),
    "with a trailer": requestOf({ headers: [...usual, "Trailer: X-A"] }),
    "with a header twice": requestOf({ headers: [...usual, "x-api-key: key"] }),
    "with a folded header": requestOf({ headers: [...usual, "X-A: a\r\n b"] }),
    "with space before a colon": requestOf({ headers: [...usual, "X-A : a"] }),
    "with no space behind a colon": requestOf({ headers: [...usual, "X-A:a"] }),
    "with an empty header": requestOf({ headers: [...usual, "X-A: "] }),
    "with a header that has no name": requestOf({ headers: [...usual, ": a"] }),
    "with a header that ends in a space": requestOf({ headers: [...usual, "X-A: a "] }),
    "with a tab in a header": requestOf({ headers: [...usual, "X-A: a\tb"] }),
    "with more than ASCII in a header": requestOf({ headers: [...usual, "X-A: \xe9"] }),
    "with a control character in a header": requestOf({ headers: [...usual, "X-A: a\0"] }),
    "with a line that ends in a line feed alone": requestOf({ headers: [...usual, "X-A: a\nX-B: b"] }),
    "with a carriage return in a line": requestOf({ headers: [...usual, "X-A: a\rb"] }),
    "with too long a head": requestOf({ headers: [...usual, `X-A: ${"a".repeat(10_000)}`] }),
    // Node refuses more than a thousand.
    "with very many headers": requestOf({ headers: [...usual, ...veryMany] }),
    "with a head that goes on too long": requestOf({ headers: [`X-A: ${"a".repeat(10_000)}`] }).subarray(0, 9_000),
    "that begins with an empty line": Buffer.concat([Buffer.from("\r\n"), requestOf()]),
    "that is hardly HTTP": Buffer.from("NONSENSE\r\n\r\n"),
    "that is none": Buffer.from("\x16\x03\x01"),
  };
  for (const [what, bytes] of Object.entries(others)) {
    it(`is no request ${what}`, () => expect(read(bytes)).to.equal("other"));
  }

  describe("read by Node's HTTP server", () => {
    let server: Server;
    before(() => (server = createServer()));

    /** The first request that Node parses from the bytes, and whether more follows. Fails if Node cannot parse them. */
    const byNode = async (bytes: Buffer) => {
      const [client, connection] = duplexPair();
      server.emit("connection", connection);
      const done = new AbortController();
      const next = (event: "request" | "clientError") => once(server, event, { signal: done.signal });
      const failed = next("clientError").then(([error]) => { throw error as Error; });
      client.write(bytes);
      const [request, response] = (await Promise.race([next("request"), failed])) as
        [IncomingMessage, ServerResponse];
      const body = await Promise.race([buffer(request), failed]);
      const more = await Promise.race([
        next("request").then(() => true, () => true), failed.then(() => true, () => true),
        new Promise((resolve) => setImmediate(resolve, false)),
      ]);
      done.abort();
      client.destroy();
      connection.destroy();
      const { method, url: target = "", httpVersion, headers } = request;
      const { shouldKeepAlive: keptAlive } = response;
      return { method, httpVersion, path: ingestPath(target), headers, body, keptAlive, more };
    };

    const odd = (...texts: string[]) => fc.constantFrom(...texts);
    const headers = fc.array(odd(
      "Accept: */*", "X-A: a", "X-A: b", "x-b: a: b", "X-C:c", "X-D : d", "X-E: e ", "X-F:  f", "X-G: \t",
      "Connection: keep-alive", "Connection: close", "Connection: keep-alive, te", "Keep-Alive: timeout=5",
      "Content-Length: 7", "Content-Length: 0", "Content-Length: 07", "Transfer-Encoding: chunked",
      "Transfer-Encoding: identity", "Content-Encoding: gzip", "Expect: 100-continue", "Upgrade: websocket",
      "X-Idempotency-Key: 1, 2", "X-J: a\nX-K: b", "X-L: a\rb", "__proto__: x", "constructor: x", "TE: trailers",
      "Proxy-Connection: close", "Trailer: X", "Cookie: a=1; b=2", "Date: x", "Via: 1.0 x", "X-M: \x7f",
      "Content-Length: 8", "X-H: é", " X-I: i",
    ), { maxLength: 2 });
    const requests = fc.record({
      line: fc.oneof(
        { weight: 8, arbitrary: fc.constant(`POST ${url} HTTP/1.1`) },
        odd(
          `POST ${url}?a=b#c HTTP/1.1`, `POST ${url.toUpperCase()} HTTP/1.1`, `POST ${url}%2f HTTP/1.1`,
          `POST  ${url} HTTP/1.1`, `POST ${url} HTTP/1.2`, `post ${url} HTTP/1.1`, `POST ${url}\t HTTP/1.1`,
          `POST ${url}"<>^\`{|} HTTP/1.1`,
        ),
      ),
      headers: fc.tuple(headers, headers).map(([first, last]) => [...first, ...usual, ...last]),
      length: fc.option(odd("", "Content-Length: 7", "content-length: 0", "CONTENT-LENGTH: 007"), { nil: undefined }),
      body: odd("", '{"a":1}', "0\r\n\r\n", "1\r\na\r\n0\r\n\r\n", "\r\n\r\n", "POST / H"),
      behind: fc.oneof({ weight: 4, arbitrary: fc.constant("") }, odd("\r\n", "GET / HTTP/1.1\r\n\r\n", "\0")),
    });

    it("is the same request, with nothing behind it", async () => {
      let plain = 0;
      await fc.assert(fc.asyncProperty(requests, async (parts) => {
        const bytes = requestOf(parts);
        const ours = read(bytes);
        if (typeof ours === "string") return;
        plain += 1;
        expect(await byNode(bytes)).to.deep.equal({
          ...ours, method: "POST", httpVersion: "1.1", keptAlive: true, more: false,
        });
      }), { numRuns: 5_000 });
      expect(plain).to.be.above(200);
    });
  });
});
