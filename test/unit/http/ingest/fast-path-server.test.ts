import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { setImmediate as turn } from "node:timers/promises";
import { expect } from "chai";
import { SystemIds } from "../../../../src/engines/system/system-ids.ts";
import type { IngestAnswer, IngestRequest } from "../../../../src/http/ingest/answer.ts";
import type { SharedMemory } from "../../../../src/http/memory/request-memory.ts";
import { createHttpServer } from "../../../../src/http/server.ts";
import { heldBytes } from "../../../support/heap.ts";
import { ManualClock } from "../../../support/manual-clock.ts";
import { eventually } from "../../../support/relay.ts";
import { ampleMemory } from "../../../support/shared-memory.ts";
import { patient, WrittenRequests } from "../../../support/written-requests.ts";

const taken: IngestAnswer = { status: 202, type: "application/json; charset=utf-8", text: '{"taken":true}' };

describe("a connection to ingest", () => {
  let requests: WrittenRequests;
  /** Requests answered on the fast path, and by Node's HTTP server. */
  let plain: IngestRequest[];
  let byNode: string[];
  let answerIngest: (request: IngestRequest) => Promise<IngestAnswer>;
  let clock: ManualClock;
  let memory: SharedMemory;

  beforeEach(async () => {
    [plain, byNode] = [[], []];
    answerIngest = async () => taken;
    clock = new ManualClock();
    memory = ampleMemory(clock, { tenants: 400_000, networks: 400_000 });
    const service = {
      answerIngest: (request: IngestRequest) => {
        plain.push(request);
        return answerIngest(request);
      },
      memory,
      maxBodyBytes: 100_000,
    };
    requests = await WrittenRequests.to((patience) => createHttpServer((request: IncomingMessage, response) => {
      byNode.push(`${request.method} ${request.url}`);
      request.resume().once("end", () => response.end("by Node"));
    }, { ids: new SystemIds(), clock }, { plain: service, patience }));
  });
  afterEach(() => requests.close());

  const path = "/api/v1/ingest/tenant/dst_token";
  const post = (body = "{}", ...headers: string[]) =>
    [
      `POST ${path} HTTP/1.1`, "Host: relay", "Content-Type: application/json", ...headers,
      `Content-Length: ${body.length}`, "", body,
    ].join("\r\n");
  const get = "GET /other HTTP/1.1\r\nHost: relay\r\n\r\n";

  const opened = async () => {
    const connection = await requests.opened();
    /** Resolves to everything received, once it contains so many answers. */
    const answers = (count: number) =>
      connection.until((received) => received.split(/taken|by Node/).length > count);
    return { ...connection, answers };
  };
  /** Writes a piece; resolves once the server has read it separately. */
  const written = async ({ socket, accepted }: { socket: Socket; accepted: Socket }, piece: string) => {
    const before = accepted.bytesRead;
    socket.write(piece);
    while (accepted.bytesRead < before + piece.length) await turn();
  };
  const statuses = (received: string) => [...received.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => Number(status));
  const pending = () => {
    const { promise, resolve } = Promise.withResolvers<IngestAnswer>();
    answerIngest = () => promise;
    return () => resolve(taken);
  };
  const bodies = () => plain.map((request) => request.body("tenant"));
  const untilAsked = async (count: number) => {
    while (plain.length < count) await turn();
  };

  it("is answered on the fast path for one fast-path request after the other", async () => {
    const { socket, answers } = await opened();
    for (const count of [1, 2, 3]) {
      socket.write(post('{"a":1}', "X-Request-Id: mine"));
      await answers(count);
    }
    expect(plain.map(({ path: { tenant, token }, requestId }) => [tenant, token, requestId]))
      .to.deep.equal(Array(3).fill(["tenant", "dst_token", "mine"]));
    expect(bodies()).to.deep.equal(Array(3).fill({ text: '{"a":1}', value: { a: 1 } }));
    expect(byNode).to.deep.equal([]);
  });

  it("may bring each request in a few pieces", async () => {
    const { socket, accepted, answers } = await opened();
    const text = post('{"a":1}');
    for (const count of [1, 2, 3]) {
      for (const piece of [text.slice(0, 10), text.slice(10, 60), text.slice(60)]) {
        await written({ socket, accepted }, piece);
      }
      expect(statuses(await answers(count))).to.deep.equal(Array(count).fill(202));
    }
    expect(bodies()).to.deep.equal(Array(3).fill({ text: '{"a":1}', value: { a: 1 } }));
  });

  it("is handed over to Node at the first other request, and every request is answered once", async () => {
    const { socket, answers } = await opened();
    for (const [at, text] of [post(), get, post()].entries()) {
      socket.write(text);
      await answers(at + 1);
    }
    expect(statuses(await answers(3))).to.deep.equal([202, 200, 200]);
    expect([plain.length, byNode]).to.deep.equal([1, ["GET /other", `POST ${path}`]]);
  });

  it("may bring an empty line after each request, as some clients end a body", async () => {
    const connection = await opened();
    connection.socket.write(post());
    await connection.answers(1);
    await written(connection, "\r\n");
    const answer = pending();
    connection.socket.write(post());
    await untilAsked(2);
    await written(connection, "\r\n");
    answer();
    await connection.answers(2);
    connection.socket.write(post());
    expect(statuses(await connection.answers(3))).to.deep.equal([202, 202, 202]);
    expect([plain.length, connection.accepted.timeout]).to.deep.equal([3, 66_000]);
  });

  it("is not kept longer by empty lines while it is idle: the time is counted from its last answer", async () => {
    const connection = await opened();
    connection.socket.write(post());
    await connection.answers(1);
    for (const left of [46_000, 26_000, 6_000]) {
      clock.advance(20_000);
      await written(connection, "\r\n");
      expect(connection.accepted.timeout).to.equal(left);
    }
    connection.socket.write(post());
    await connection.answers(2);
    expect(connection.accepted.timeout).to.equal(66_000);
    clock.advance(66_000);
    connection.socket.write("\r\n");
    await connection.ended();
    expect(plain).to.have.length(2);
  });

  describe("that brings large requests", () => {
    const large = post(`{"a":"${"a".repeat(90_000)}"}`);
    const rest = 100;
    /** How many claims of so many bytes the network gets now. All are released again. */
    const room = (bytes: number) => {
      const claims = [];
      const take = () => memory.networks.take("address:127.0.0.1", bytes);
      for (let claim = take(); claim; claim = take()) claims.push(claim);
      for (const claim of claims) claim.release();
      return claims.length;
    };
    const begun = async () => {
      const connection = await opened();
      await written(connection, large.slice(0, -rest));
      return connection;
    };

    it("holds its network's memory until they are answered", async () => {
      const before = room(80_000);
      const connection = await begun();
      expect(room(80_000)).to.be.below(before);
      connection.socket.write(large.slice(-rest));
      await connection.answers(1);
      while (room(80_000) < before) await turn();
      expect([plain.length, byNode]).to.deep.equal([1, []]);
    });

    it("gives the memory back if the connection closes in the middle of a request", async () => {
      const before = room(80_000);
      const { socket } = await begun();
      socket.destroy();
      while (room(80_000) < before) await turn();
    });

    it("is handed over to Node if its network has no memory left", async () => {
      const stuck = [await begun(), await begun()];
      const connection = await begun();
      connection.socket.write(large.slice(-rest));
      await connection.answers(1);
      expect([plain.length, byNode]).to.deep.equal([0, [`POST ${path}`]]);
      for (const { socket } of stuck) socket.write(large.slice(-rest));
      for (const { answers } of stuck) await answers(1);
      expect(plain).to.have.length(2);
    });

    it("holds its tenant's memory for a large answer until the client has taken it", async () => {
      const held = () => memory.tenants.take("tenant", 200_000);
      answerIngest = async (request) => {
        await request.holdAnswer("tenant", 200_000);
        return { ...taken, text: "a".repeat(20_000_000) };
      };
      const { socket, accepted } = await opened();
      socket.pause().write(post());
      await untilAsked(1);
      while (accepted.writableLength === 0) await turn();
      expect(held()).to.equal(undefined);
      socket.resume();
      while (accepted.writableLength > 0) await turn();
      let claim = held();
      for (; !claim; claim = held()) await turn();
    });
  });

  it("is handed over to Node for pipelined requests, which are answered in order", async () => {
    const { socket, answers } = await opened();
    socket.write(post() + get + post());
    expect(statuses(await answers(3))).to.deep.equal([200, 200, 200]);
    expect([plain.length, byNode]).to.deep.equal([0, [`POST ${path}`, "GET /other", `POST ${path}`]]);
  });

  it("is handed over to Node after an answer that the next request did not wait for", async () => {
    const answer = pending();
    const { socket, accepted, answers } = await opened();
    socket.write(post());
    await untilAsked(1);
    await written({ socket, accepted }, get + post());
    expect(byNode).to.deep.equal([]);
    answer();
    expect(statuses(await answers(3))).to.deep.equal([202, 200, 200]);
    expect(byNode).to.deep.equal(["GET /other", `POST ${path}`]);
  });

  it("is not read while an answer is pending and its client sends more", async () => {
    const answer = pending();
    const { socket, accepted, answers } = await opened();
    socket.write(post());
    await untilAsked(1);
    const more = get + post(`{"a":"${"a".repeat(1_000_000)}"}`);
    socket.write(more);
    for (let turns = 0; turns < 100; turns += 1) await turn();
    expect(accepted.bytesRead).to.be.within(post().length, post().length + more.length / 2);
    answer();
    expect(statuses(await answers(3))).to.deep.equal([202, 200, 200]);
  });

  it("is handed over to Node where a request comes in many pieces, or slowly", async () => {
    const text = post('{"a":1}');
    const many = await opened();
    for (const piece of text) await written(many, piece);
    expect(statuses(await many.answers(1))).to.deep.equal([200]);
    const slow = await opened();
    slow.socket.write(text);
    await slow.answers(1);
    slow.socket.write(text.slice(0, 20));
    while (slow.accepted.timeout !== patient.silence) await turn();
    slow.accepted.emit("timeout");
    slow.socket.write(text.slice(20));
    expect(statuses(await slow.answers(2))).to.deep.equal([202, 200]);
    expect([plain.length, byNode.length]).to.deep.equal([1, 2]);
  });

  it("is closed with 408, as by Node, where no request comes, or only a part of one", async () => {
    await requests.toImpatient({ silence: 30, headers: 100, request: 200 });
    const [silent, begun] = [await opened(), await opened()];
    begun.socket.write(post('{"a":1}').slice(0, -1));
    expect(statuses(await silent.ended())).to.deep.equal([408]);
    expect(statuses(await begun.ended())).to.deep.equal([408]);
    expect(plain).to.deep.equal([]);
  });

  it("has no time limit until its answer, then one of 66 s", async () => {
    const answer = pending();
    const { socket, accepted, answers, ended } = await opened();
    socket.write(post());
    await untilAsked(1);
    accepted.emit("timeout");
    answer();
    expect(await answers(1)).to.match(/\r\nConnection: keep-alive\r\nKeep-Alive: timeout=65\r\n\r\n/);
    expect(accepted.timeout).to.equal(66_000);
    accepted.emit("timeout");
    expect(statuses(await ended())).to.deep.equal([202]);
  });

  it("gets its answer after the client has ended its half, and ends then", async () => {
    const answer = pending();
    const { socket, accepted, ended } = await opened();
    socket.end(post());
    await once(accepted, "end");
    answer();
    expect(await ended()).to.match(/^HTTP\/1\.1 202 [^]*\r\nConnection: close\r\n\r\n/);
  });

  it("ends when the client ends it, with 400 in the middle of a request, as by Node", async () => {
    const [fresh, idle, begun] = [await opened(), await opened(), await opened()];
    fresh.socket.end();
    expect(await fresh.ended()).to.equal("");
    for (const { socket, answers } of [idle, begun]) {
      socket.write(post());
      await answers(1);
    }
    idle.socket.end();
    expect(statuses(await idle.ended())).to.deep.equal([202]);
    begun.socket.end(post().slice(0, 50));
    expect(statuses(await begun.ended())).to.deep.equal([202, 400]);
    expect([plain.length, byNode.length]).to.deep.equal([2, 0]);
  });

  it("that breaks while its request is answered does not affect other connections", async () => {
    const answer = pending();
    const { socket, accepted } = await opened();
    socket.write(post());
    await untilAsked(1);
    await written({ socket, accepted }, get);
    const closed = new Promise((resolve) => accepted.once("close", resolve));
    accepted.resume();
    socket.resetAndDestroy();
    await closed;
    answer();
    await turn();
    expect(accepted).not.to.have.property("parser");
    const next = await opened();
    next.socket.write(post());
    expect(statuses(await next.answers(1))).to.deep.equal([202]);
  });

  it("ends when the server closes: at once where it is idle, else with its answer", async () => {
    const [idle, busy] = [await opened(), await opened()];
    idle.socket.write(post());
    await idle.answers(1);
    const answer = pending();
    busy.socket.write(post());
    await untilAsked(2);
    const closed = once(requests.server, "close");
    requests.server.close();
    expect(statuses(await idle.ended())).to.deep.equal([202]);
    answer();
    expect(await busy.ended()).to.match(/^HTTP\/1\.1 202 [^]*\r\nConnection: close\r\n\r\n/);
    // The server does not wait for the clients.
    await closed;
  });

  it("serves a request that has begun when the server closes, then ends", async () => {
    const { socket, accepted, answers, ended } = await opened();
    socket.write(post());
    await answers(1);
    await written({ socket, accepted }, post().slice(0, 20));
    requests.server.close();
    socket.write(post().slice(20));
    expect(statuses(await ended())).to.deep.equal([202, 202]);
  });

  it("ends at once, even with a request under way, when the server closes all connections", async () => {
    pending();
    const { socket, accepted } = await opened();
    socket.write(post());
    await untilAsked(1);
    const closed = once(accepted, "close");
    requests.server.closeAllConnections();
    await closed;
  });

  it("is closed where the client takes no more of its answers", async () => {
    await requests.toImpatient({ answer: 300 });
    answerIngest = async () => ({ ...taken, text: `{"a":"${"a".repeat(1_000_000)}"}` });
    const { socket, accepted } = await opened();
    socket.pause();
    const closed = once(accepted, "close");
    // More answers than the system buffers. Node may get the connection then; its limit is the same.
    while (byNode.length === 0 && accepted.listenerCount("timeout") > 0 && accepted.writableLength === 0) {
      const before = plain.length;
      socket.write(post());
      await untilAsked(before + 1);
      await turn();
    }
    requests.server.closeIdleConnections();
    expect(accepted.writableEnded).to.equal(false);
    await closed;
  });

  it("serves no more requests after its last answer", async () => {
    // An answer too large for the system's buffers: the connection waits for the client to take it.
    answerIngest = async () => ({ ...taken, status: 413, text: "a".repeat(50_000_000) });
    const { socket, accepted } = await opened();
    socket.pause();
    socket.write(post());
    while (!accepted.writableEnded) await turn();
    await written({ socket, accepted }, post());
    expect([plain.length, byNode.length]).to.deep.equal([1, 0]);
  });

  it("that was handed over to Node keeps none of its earlier bytes", async () => {
    const connections = [];
    const text = post(`{"a":"${"a".repeat(60_000)}"}`);
    const before = heldBytes();
    for (let count = 0; count < 50; count += 1) {
      const connection = await opened();
      connections.push(connection);
      await written(connection, text);
      await connection.answers(1);
      await written(connection, text.slice(0, -1));
      connection.accepted.emit("timeout");
      connection.socket.write(text.slice(-1));
      await connection.answers(2);
    }
    expect(byNode.length).to.equal(connections.length);
    plain = [];
    // The runtime may free memory a little later.
    await eventually(async () => (heldBytes() - before) / connections.length, (each) => each < text.length / 2);
  });

  it("gets a last answer when its request is refused for its size", async () => {
    answerIngest = async () => ({ status: 413, type: "text/plain; charset=utf-8", text: "body: é" });
    const { socket, accepted, ended } = await opened();
    socket.write(post());
    const received = await ended();
    expect(accepted.timeout).to.equal(patient.answer);
    expect(received).to.match(/^HTTP\/1\.1 413 Payload Too Large\r\n[^]*\r\nContent-Length: 8\r\n[^]*\r\nConnection: close/);
    expect(Buffer.from(received, "latin1").toString()).to.match(/body: é$/);
  });
});
