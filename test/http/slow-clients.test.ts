import { once } from "node:events";
import type { RequestListener, Server } from "node:http";
import { connect, type AddressInfo, type Socket } from "node:net";
import { expect } from "chai";
import { createHttpServer } from "../../src/http/server.ts";
import { openAccount, openIngest } from "../support/accounts.ts";
import { startApi, type TestApi } from "../support/api.ts";
import { inMemoryEngines, type InMemoryEngines } from "../support/api-engines.ts";

/** A slow client sends ten bytes in the time for a head, twenty in the time for a request. */
const patience = { headers: 400, request: 800, answer: 200, silence: 100, checkEvery: 20 };
const dropMs = 40;
/** Delay allowed to a busy machine: a client that is not cut off sends for much longer. */
const busyMs = 5_000;

describe("slow clients", () => {
  let engines: InMemoryEngines;
  let api: TestApi;
  let servers: Server[];
  let ingest: Awaited<ReturnType<typeof openIngest>>;
  let port: number;
  before(async () => {
    engines = await inMemoryEngines();
    api = await startApi(engines);
    const one = await openAccount(api.url);
    ingest = await openIngest(one.owner.client, one.tenantId);
    servers = [];
    port = portOf(await listening(patience));
  });
  after(async () => {
    for (const server of servers) {
      server.closeAllConnections();
      server.close();
    }
    await api.close();
    await engines.close();
  });
  afterEach(() => expect(api.errors).to.deep.equal([]));

  /** A server with less patience than the running API, by default with the same listener. */
  const listening = async (given: typeof patience, own?: RequestListener): Promise<Server> => {
    const [listener] = api.server.listeners("request") as [RequestListener];
    const server = createHttpServer(own ?? listener, api.world, { plain: api.plain, patience: given });
    server.listen(0, "127.0.0.1");
    servers.push(server);
    await once(server, "listening");
    return server;
  };
  const portOf = (server: Server) => (server.address() as AddressInfo).port;

  /** Sends the first part at once and the rest a byte at a time. Returns the received text and the duration. */
  const drip = async (atOnce: string, slowly: string, to = port): Promise<{ text: string; tookMs: number }> => {
    const startedAt = performance.now();
    const socket: Socket = connect(to, "127.0.0.1");
    let text = "";
    socket.on("data", (chunk: Buffer) => (text += chunk.toString())).on("error", () => undefined);
    socket.write(atOnce);
    let sent = 0;
    const timer = setInterval(() => socket.write(slowly[(sent += 1) - 1] ?? "x"), dropMs);
    // A reset also ends the connection.
    await new Promise((resolve) => socket.once("close", resolve));
    clearInterval(timer);
    return { text, tookMs: performance.now() - startedAt };
  };
  const head = (path: string, ...headers: string[]) =>
    [`POST ${path} HTTP/1.1`, "Host: relay", "Content-Type: application/json", ...headers].join("\r\n");

  it("are cut off in the middle of a head, even if they send steadily", async () => {
    const slow = ["POST /api/v1/auth/login HTTP/1.1\r\n".repeat(5), `X-A: ${"a".repeat(500)}`].map((slowly) =>
      drip(slowly.startsWith("X") ? `${head("/api/v1/auth/login")}\r\n` : "", slowly));
    for (const { text, tookMs } of await Promise.all(slow)) {
      expect(tookMs).to.be.within(patience.headers * 0.9, patience.headers + busyMs);
      expect(text).to.match(/^HTTP\/1.1 (408|400)/);
    }
  });

  it("are cut off if they send empty lines and no request, even steadily", async () => {
    const { tookMs } = await drip("\r\n", "\r\n".repeat(300));
    expect(tookMs).to.be.within(patience.headers * 0.9, patience.headers + busyMs);
  });

  it("are cut off in the middle of a body, at ingest as elsewhere, and nothing is accepted", async () => {
    const before = await engines.store.head();
    const body = `{"a":"${"a".repeat(500)}`;
    const paths = [["/api/v1/auth/login"], [ingest.path, `X-Api-Key: ${ingest.apiKey}`]] as const;
    await Promise.all(paths.flatMap(([path, ...headers]) =>
      ["Content-Length: 600", "Transfer-Encoding: chunked"].map(async (framing) => {
        const dripped = framing.startsWith("T") ? "1\r\na\r\n".repeat(100) : body;
        const { tookMs } = await drip(`${head(path, ...headers, framing)}\r\n\r\n`, dripped);
        expect(tookMs, `${path} ${framing}`).to.be.within(patience.request * 0.9, patience.request + busyMs);
      })));
    expect(await engines.store.head()).to.equal(before);
  });

  it("do not keep others from being answered, even hundreds of them", async () => {
    // The slow clients stay for longer than an answer takes, even on a busy machine.
    const headers = 2_000;
    const server = await listening({ ...patience, headers, request: headers });
    const slow = () => drip("POST /api/v1/auth/login HTTP/1.1\r\n", "X-A: aaaa".repeat(50), portOf(server));
    const crowd = Array.from({ length: 300 }, slow);
    const startedAt = performance.now();
    const answer = await fetch(`http://127.0.0.1:${portOf(server)}/healthz`);
    expect(answer.status).to.equal(200);
    expect(performance.now() - startedAt).to.be.below(headers);
    for (const { tookMs } of await Promise.all(crowd)) expect(tookMs).to.be.below(headers + busyMs);
    const open = await new Promise<number>((resolve) => {
      server.getConnections((_error, count) => resolve(count));
    });
    expect(open).to.be.at.most(1);
  });

  it("have in production 10 s for a head, 30 s for a request, and 15 to 30 s to read on in an answer", () => {
    expect(api.server).to.include({ headersTimeout: 10_000, requestTimeout: 30_000, timeout: 15_000 });
  });

  it("are cut off when they stop reading their answers", async () => {
    const answer = "a".repeat(1_000_000);
    const server = await listening(patience, (_request, response) => response.end(answer));
    const socket = connect(portOf(server), "127.0.0.1").on("error", () => undefined).pause();
    const [accepted] = (await once(server, "connection")) as [Socket];
    const cutOff = once(accepted, "close");
    // More answers than the buffers of the system hold.
    socket.write("GET / HTTP/1.1\r\nHost: relay\r\n\r\n".repeat(100));
    await cutOff;
    socket.destroy();
  });

  it("do not include a client that waits in silence for a slow answer", async () => {
    const server = await listening(patience, (request, response) => {
      request.socket.once("timeout", () => response.end("at last"));
    });
    const answer = await fetch(`http://127.0.0.1:${portOf(server)}/`);
    expect(await answer.text()).to.equal("at last");
  });

  it("do not include a client that waits in silence for more of an answer that has begun", async () => {
    const server = await listening(patience, (request, response) => {
      response.write("for now, ");
      request.socket.once("timeout", () => response.end("at last"));
    });
    const answer = await fetch(`http://127.0.0.1:${portOf(server)}/`);
    expect(await answer.text()).to.equal("for now, at last");
  });

  it("are cut off when they do not take the rest of an answer that waited for it", async () => {
    const server = await listening(patience, (request, response) => {
      response.write("for now, ");
      request.socket.once("timeout", () => response.end("a".repeat(50_000_000)));
    });
    const socket = connect(portOf(server), "127.0.0.1").on("error", () => undefined).pause();
    const [accepted] = (await once(server, "connection")) as [Socket];
    const cutOff = once(accepted, "close");
    socket.write("GET / HTTP/1.1\r\nHost: relay\r\n\r\n");
    await cutOff;
    socket.destroy();
  });
});
