import { once } from "node:events";
import type { RequestListener, Server } from "node:http";
import { connect, type AddressInfo, type Socket } from "node:net";
import { expect } from "chai";
import { createHttpServer } from "../../src/http/server.ts";
import { openAccount, openIngest } from "../support/accounts.ts";
import { startApi, type TestApi } from "../support/api.ts";
import { inMemoryEngines, type InMemoryEngines } from "../support/api-engines.ts";

/** Ten drops of the slow ones fit into the time for a head, twenty into that for a request. */
const patience = { headers: 400, request: 800, answer: 200, silence: 100, checkEvery: 20 };
const dropMs = 40;
/** What a busy machine may add: whoever is not cut off sends on for much longer. */
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

  /** With less patience than the running API; the same listener as there unless given. */
  const listening = async (given: typeof patience, own?: RequestListener): Promise<Server> => {
    const [listener] = api.server.listeners("request") as [RequestListener];
    const server = createHttpServer(own ?? listener, api.world, { plain: api.plain, patience: given });
    server.listen(0, "127.0.0.1");
    servers.push(server);
    await once(server, "listening");
    return server;
  };
  const portOf = (server: Server) => (server.address() as AddressInfo).port;

  /** Sends the first part at once and the rest a byte at a time. Answers what came back, and after how long. */
  const drip = async (atOnce: string, slowly: string, to = port): Promise<{ text: string; tookMs: number }> => {
    const startedAt = performance.now();
    const socket: Socket = connect(to, "127.0.0.1");
    let text = "";
    socket.on("data", (chunk: Buffer) => (text += chunk.toString())).on("error", () => undefined);
    socket.write(atOnce);
    let sent = 0;
    const timer = setInterval(() => socket.write(slowly[(sent += 1) - 1] ?? "x"), dropMs);
    // A reset is an end like any other.
    await new Promise((resolve) => socket.once("close", resolve));
    clearInterval(timer);
    return { text, tookMs: performance.now() - startedAt };
  };
  const head = (path: string, ...headers: string[]) =>
    [`POST ${path} HTTP/1.1`, "Host: relay", "Content-Type: application/json", ...headers].join("\r\n");

  it("are cut off in the middle of a head, however steadily they send", async () => {
    const slow = ["POST /api/v1/auth/login HTTP/1.1\r\n".repeat(5), `X-A: ${"a".repeat(500)}`].map((slowly) =>
      drip(slowly.startsWith("X") ? `${head("/api/v1/auth/login")}\r\n` : "", slowly));
    for (const { text, tookMs } of await Promise.all(slow)) {
      expect(tookMs).to.be.within(patience.headers * 0.9, patience.headers + busyMs);
      expect(text).to.match(/^HTTP\/1.1 (408|400)/);
    }
  });

  it("are cut off where they send empty lines and no request, however steadily", async () => {
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

  it("of whom there are hundreds do not keep others from being answered", async () => {
    // They stay for longer than an answer takes, however busy the machine is.
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

  it("have seconds in a relay that runs: 10 for a head, 30 for all, 15 to 30 to take more of an answer", () => {
    expect(api.server).to.include({ headersTimeout: 10_000, requestTimeout: 30_000, timeout: 15_000 });
  });

  it("are cut off when they take nothing more of their answers", async () => {
    const answer = "a".repeat(1_000_000);
    const server = await listening(patience, (_request, response) => response.end(answer));
    const socket = connect(portOf(server), "127.0.0.1").on("error", () => undefined).pause();
    const [accepted] = (await once(server, "connection")) as [Socket];
    const cutOff = once(accepted, "close");
    // More than the system keeps of them.
    socket.write("GET / HTTP/1.1\r\nHost: relay\r\n\r\n".repeat(100));
    await cutOff;
    socket.destroy();
  });

  it("are not who waits in silence for an answer that takes long", async () => {
    const server = await listening(patience, (request, response) => {
      request.socket.once("timeout", () => response.end("at last"));
    });
    const answer = await fetch(`http://127.0.0.1:${portOf(server)}/`);
    expect(await answer.text()).to.equal("at last");
  });
});
