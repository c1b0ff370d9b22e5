import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { setImmediate as turn } from "node:timers/promises";
import { expect } from "chai";
import { SystemIds } from "../../../src/engines/system/system-ids.ts";
import { createHttpServer } from "../../../src/http/server.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { WrittenRequests } from "../../support/written-requests.ts";

const pieceBytes = 65_536;

describe("pipelined requests on one connection", () => {
  let requests: WrittenRequests;
  /** The requests that have begun, by path. */
  let begun: Map<string, { readonly request: IncomingMessage; readonly response: ServerResponse }>;

  beforeEach(async () => {
    begun = new Map();
    requests = await WrittenRequests.to((patience) => createHttpServer((request, response) => {
      begun.set(request.url!, { request, response });
    }, { ids: new SystemIds(), clock: new ManualClock() }, { patience }));
  });
  afterEach(() => requests.close());

  const get = (path: string, ...headers: string[]) =>
    [`GET ${path} HTTP/1.1`, "Host: relay", ...headers, "", ""].join("\r\n");
  const post = (path: string, body: string, ...headers: string[]) =>
    [`POST ${path} HTTP/1.1`, "Host: relay", ...headers, `Content-Length: ${body.length}`, "", body].join("\r\n");

  const opened = async () => {
    const connection = await requests.opened();
    /** Resolves to everything received, once its end contains `wanted`. */
    const received = (wanted: string) => connection.until((text) => text.slice(-1_000).includes(wanted));
    return { ...connection, received };
  };
  const answer = (path: string, text = `answer to ${path}`) => begun.get(path)!.response.end(text);
  const whenBegun = async (path: string) => {
    while (!begun.has(path)) await turn();
    return begun.get(path)!;
  };
  const whenRead = async (accepted: Socket, bytes: number) => {
    while (accepted.bytesRead < bytes) await turn();
  };
  const paths = () => [...begun.keys()];
  const told = (received: string) =>
    [...received.matchAll(/HTTP\/1\.1 (\d+)|answer to (\/[a-z]+)/g)].map(([, status, path]) => path ?? Number(status));

  describe("are served", () => {
    it("one after the other, each begun when the previous answer is finished", async () => {
      const { socket, received } = await opened();
      socket.write(get("/a") + post("/b", "{}") + get("/c"));
      for (const [at, path] of ["/a", "/b", "/c"].entries()) {
        await whenBegun(path);
        expect(paths()).to.have.length(at + 1);
        answer(path);
        expect(told(await received(`answer to ${path}`))).to.have.length(2 * (at + 1));
      }
      expect(told(await received("answer to /c"))).to.deep.equal([200, "/a", 200, "/b", 200, "/c"]);
    });

    it("only once the client has taken the previous answer", async () => {
      const { socket, accepted } = await opened();
      socket.pause();
      socket.write(get("/large") + get("/next"));
      const { response } = await whenBegun("/large");
      answer("/large", "a".repeat(20_000_000));
      while (!response.writableEnded || accepted.writableLength === 0) await turn();
      expect(paths()).to.deep.equal(["/large"]);
      socket.resume();
      await whenBegun("/next");
      expect(response.writableFinished).to.equal(true);
    });

    it("and no more are read while one waits, even while the client takes the previous answer", async () => {
      const { socket, accepted, received } = await opened();
      socket.write(get("/streamed") + get("/next"));
      const { response } = await whenBegun("/streamed");
      await whenRead(accepted, get("/streamed").length + get("/next").length);
      socket.write(get("/more", `X-Filling: ${"a".repeat(8_000)}`).repeat(200));
      for (let turns = 0; turns < 100; turns += 1) await turn();
      expect(accepted.bytesRead).to.be.below(2 * pieceBytes);
      for (let pieces = 0; pieces < 20; pieces += 1) {
        if (!response.write("a".repeat(500_000))) await once(response, "drain");
      }
      expect(accepted.bytesRead).to.be.below(3 * pieceBytes);
      answer("/streamed");
      await received("answer to /streamed");
      answer("/next");
      await whenBegun("/more");
    });

    it("and no more are read until the last waiting one begins", async () => {
      const { socket, accepted, received } = await opened();
      const requests = Array.from({ length: 300 }, (_, n) => get(`/${n}`, `X-Filling: ${"a".repeat(2_000)}`));
      socket.write(requests.join(""));
      for (const at of requests.keys()) {
        await whenBegun(`/${at}`);
        expect(accepted.bytesRead).to.be.below((at + 1) * requests[at]!.length + 2 * pieceBytes);
        answer(`/${at}`);
      }
      await received("answer to /299");
    });

    it("but not after the connection has closed", async () => {
      const { socket, accepted } = await opened();
      socket.write(get("/a") + get("/b"));
      const { response } = await whenBegun("/a");
      const closed = once(response, "close");
      accepted.destroy();
      await closed;
      response.end();
      await turn();
      expect(paths()).to.deep.equal(["/a"]);
    });

    it("but not after the connection's last answer", async () => {
      const { socket, accepted, ended } = await opened();
      socket.write(get("/a", "Connection: close") + get("/b"));
      await whenBegun("/a");
      answer("/a");
      expect(told(await ended())).to.deep.equal([200, "/a"]);
      expect([accepted.errored, ...paths()]).to.deep.equal([null, "/a"]);
    });

    it("and the body of a waiting one is not read until it begins", async () => {
      const { socket, accepted, received } = await opened();
      const body = "b".repeat(5_000_000);
      socket.write(get("/a") + post("/b", body));
      await whenBegun("/a");
      for (let turns = 0; turns < 100; turns += 1) await turn();
      expect(accepted.bytesRead).to.be.below(3 * pieceBytes);
      answer("/a");
      const { request } = await whenBegun("/b");
      let size = 0;
      for await (const chunk of request) size += (chunk as Buffer).length;
      expect(size).to.equal(body.length);
      answer("/b");
      await received("answer to /b");
    });

    it("in order also with an Expect header", async () => {
      const { socket, received } = await opened();
      const expecting = once(requests.server, "checkExpectation") as Promise<[IncomingMessage, ServerResponse]>;
      socket.write(get("/a") + post("/b", "", "Expect: wonders") + post("/c", "", "Expect: 100-continue"));
      const [, refusal] = await expecting;
      await turn();
      expect([refusal.headersSent, ...paths()]).to.deep.equal([false, "/a"]);
      answer("/a");
      const { response } = await whenBegun("/c");
      response.writeContinue();
      answer("/c");
      expect(told(await received("answer to /c"))).to.deep.equal([200, "/a", 417, 100, 200, "/c"]);
    });

    it("and leave no listeners on the connection", async () => {
      const { socket, accepted, received } = await opened();
      const listeners = () => accepted.eventNames().map((name) => [name, accepted.listenerCount(name)]);
      const round = async (path: string) => {
        socket.write(get("/a") + get("/b") + get(path));
        for (const each of ["/a", "/b", path]) {
          await whenBegun(each);
          answer(each);
        }
        await received(`answer to ${path}`);
        begun.clear();
      };
      await round("/first");
      const before = listeners();
      await round("/second");
      expect(listeners()).to.deep.equal(before);
    });

    it("unless too many wait: then the connection is closed", async () => {
      const { socket, accepted } = await opened();
      const closed = new Promise((resolve) => accepted.once("close", resolve));
      socket.write(get("/a") + get("/b").repeat(257));
      await closed;
      expect(paths()).to.deep.equal(["/a"]);
    });

    it("until the server closes: the next one is answered with Connection: close, the others never begin", async () => {
      const { socket, ended } = await opened();
      socket.write(get("/a") + get("/b") + get("/c"));
      await whenBegun("/a");
      const closed = once(requests.server, "close");
      requests.server.close();
      requests.server.closeIdleConnections();
      answer("/a");
      await whenBegun("/b");
      answer("/b");
      const received = await ended();
      expect(told(received)).to.deep.equal([200, "/a", 200, "/b"]);
      expect(received).to.match(/\r\nConnection: keep-alive\r\n[^]*\r\nConnection: close\r\n/);
      expect(paths()).to.deep.equal(["/a", "/b"]);
      await closed;
    });

    it("also after the client has ended its half, and the connection ends with the last answer", async () => {
      const { socket, ended } = await opened();
      socket.end(get("/a") + get("/b"));
      for (const path of ["/a", "/b"]) {
        await whenBegun(path);
        answer(path);
      }
      expect(told(await ended())).to.deep.equal([200, "/a", 200, "/b"]);
      await once(socket, "close");
    });
  });

  describe("followed by a request that cannot be parsed", () => {
    it("are answered, then that request gets 400 and the connection ends", async () => {
      const { socket, ended } = await opened();
      socket.write(`${get("/a")}${post("/b", "{}")}  `);
      for (const path of ["/a", "/b"]) {
        await whenBegun(path);
        answer(path);
      }
      expect(told(await ended())).to.deep.equal([200, "/a", 200, "/b", 400]);
    });

    it("and answered before it are followed by 400, too", async () => {
      const { socket, received, ended } = await opened();
      socket.write(get("/a"));
      await whenBegun("/a");
      answer("/a");
      await received("answer to /a");
      socket.write("garbage\r\n\r\n");
      expect(told(await ended())).to.deep.equal([200, "/a", 400]);
    });

    it("are answered completely where an answer has begun", async () => {
      const { socket, ended } = await opened();
      socket.write(get("/a"));
      const { response } = await whenBegun("/a");
      response.write("answer ");
      socket.write("garbage\r\n\r\n");
      await once(requests.server, "clientError");
      response.end("to /a");
      const received = await ended();
      expect(received).to.match(/answer \r\n5\r\nto \/a\r\n0\r\n\r\nHTTP\/1\.1 400 /);
    });

    it("are answered, then a request that came too slowly gets 408, and is not served later", async () => {
      await requests.toImpatient({ headers: 100 });
      const { socket, ended } = await opened();
      socket.write(get("/a") + get("/late").slice(0, -2));
      const { response } = await whenBegun("/a");
      response.write("answer ");
      await once(requests.server, "clientError");
      const { bytesRead } = response.socket!;
      socket.write(`\r\n${get("/later")}`);
      await whenRead(response.socket!, bytesRead + 1);
      response.end("to /a");
      expect((await ended()).match(/HTTP\/1\.1 \d+/g)).to.deep.equal(["HTTP/1.1 200", "HTTP/1.1 408"]);
      expect(paths()).to.deep.equal(["/a"]);
    });

    it("are answered, then that request gets one answer, even if more of it comes", async () => {
      const { socket, ended } = await opened();
      socket.write(get("/a"));
      const { response } = await whenBegun("/a");
      const listeners = [];
      for (let times = 0; times < 3; times += 1) {
        socket.write("garbage\r\n\r\n");
        await once(requests.server, "clientError");
        listeners.push(response.listenerCount("close"));
      }
      expect(new Set(listeners).size).to.equal(1);
      answer("/a");
      expect(told(await ended())).to.deep.equal([200, "/a", 400]);
    });

    it("are answered in order, with 400 for a waiting request whose body cannot be parsed", async () => {
      const { socket, ended } = await opened();
      socket.write(`${get("/a")}${get("/b")}${get("/broken").slice(0, -2)}Transfer-Encoding: chunked\r\n\r\nno length`);
      for (const path of ["/a", "/b"]) {
        await whenBegun(path);
        answer(path);
      }
      expect(told(await ended())).to.deep.equal([200, "/a", 200, "/b", 400]);
      expect(paths()).to.deep.equal(["/a", "/b"]);
    });

    it("are dropped if their client does not take the answers in time", async () => {
      await requests.toImpatient({ answer: 100 });
      const { socket, accepted } = await opened();
      socket.pause();
      socket.write(`${get("/large")}garbage\r\n\r\n`);
      await whenBegun("/large");
      const closed = new Promise((resolve) => accepted.once("close", resolve));
      answer("/large", "a".repeat(20_000_000));
      await closed;
    });
  });

  describe("of which one has a body that cannot be parsed", () => {
    const chunked = get("/broken").replace("\r\n\r\n", "\r\nTransfer-Encoding: chunked\r\n\r\n");

    it("get 400 in its place, where it has no answer yet", async () => {
      const { socket, ended } = await opened();
      socket.write(`${chunked}1\r\na\r\n`);
      await whenBegun("/broken");
      socket.write("no length\r\n");
      expect(told(await ended())).to.deep.equal([400]);
    });

    it("break off where its answer has begun", async () => {
      const { socket, ended } = await opened();
      socket.write(`${chunked}1\r\na\r\n`);
      const { response } = await whenBegun("/broken");
      response.write("answer ");
      socket.write("no length\r\n");
      const received = await ended();
      expect(received).to.match(/^HTTP\/1\.1 200 /).and.not.to.include("HTTP/1.1 400");
      expect(received.endsWith("0\r\n\r\n")).to.equal(false);
    });

    it("end without a second answer where it was answered before", async () => {
      const { socket, received, ended } = await opened();
      socket.write(`${chunked}1\r\na\r\n`);
      await whenBegun("/broken");
      answer("/broken");
      await received("answer to /broken");
      socket.write("no length\r\n");
      expect(told(await ended())).to.deep.equal([200, "/broken"]);
    });
  });
});
