import { once } from "node:events";
import { createServer, Socket, type AddressInfo } from "node:net";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { expect } from "chai";
import type { OutboundClient } from "../../../src/kernel/ports/outbound.ts";
import { startHostileReceiver } from "../../support/hostile-receiver.ts";
import { startReceiver, type Receiver } from "../../support/receiver.ts";
import { makeAuthority } from "../../support/tls.ts";
import { localClient, request, startSink, turn } from "./setup.ts";

describe("outbound client", () => {
  let receiver: Receiver;
  let client: OutboundClient;

  beforeEach(async () => {
    receiver = await startReceiver();
    client = localClient(receiver.caPem);
  });
  afterEach(async () => {
    await client.close();
    await receiver.close();
  });

  it("posts the exact bytes, and returns the answer", async () => {
    receiver.on("/hook", () => ({ status: 201, headers: { "X-One": "1", "Set-Cookie": "a=b" }, body: "done" }));
    const bytes = Buffer.from([0x7b, 0xff, 0x00, 0xc3, 0xa9, 0x7d]);
    const url = receiver.url("/hook?a=%20b");
    const answer = await client.post(request(url, { body: bytes, headers: { "X-Mine": "me" } }));
    expect(answer).to.deep.include({ answered: true, statusCode: 201, body: Buffer.from("done"), truncated: false });
    expect(answer.answered && answer.headers).to.include({ "x-one": "1", "set-cookie": "a=b" });
    const [got] = receiver.requestsTo("/hook");
    expect(got).to.deep.include({ method: "POST", path: "/hook?a=%20b", body: bytes });
    expect(got?.headers).to.include({ "x-mine": "me", host: `127.0.0.1:${receiver.port}`, "content-length": "6" });
    expect(got?.headers).to.not.have.property("accept-encoding");
  });

  it("sends text as UTF-8", async () => {
    await client.post(request(receiver.url("/text"), { body: '{"a":"é€"}' }));
    expect(receiver.requestsTo("/text")[0]?.body).to.deep.equal(Buffer.from('{"a":"é€"}'));
  });

  it("keeps a connection and uses it again", async () => {
    for (let count = 0; count < 5; count += 1) {
      await client.post(request(receiver.url("/again")));
      await turn();
    }
    expect(new Set(receiver.requestsTo("/again").map(({ connection }) => connection)).size).to.equal(1);
  });

  it("truncates the body at `keepBytes`, says so, and does not decode it", async () => {
    receiver.on("/long", () => ({ body: "x".repeat(40_000), headers: { "Content-Encoding": "gzip" } }));
    const answer = await client.post(request(receiver.url("/long"), { keepBytes: 100 }));
    expect(answer).to.deep.include({ answered: true, body: Buffer.from("x".repeat(100)), truncated: true });
    receiver.on("/exact", () => ({ body: "x".repeat(100) }));
    const exact = await client.post(request(receiver.url("/exact"), { keepBytes: 100 }));
    expect(exact).to.deep.include({ body: Buffer.from("x".repeat(100)), truncated: false });
  });

  it("reads on behind the kept bytes to reuse the connection, but not without limit", async () => {
    receiver.on("/behind", () => ({ body: "x".repeat(200_000) }));
    receiver.on("/beyond", () => ({ body: "x".repeat(2_000_000) }));
    for (let count = 0; count < 3; count += 1) {
      await client.post(request(receiver.url("/behind"), { keepBytes: 10 }));
      await turn();
    }
    expect(new Set(receiver.requestsTo("/behind").map(({ connection }) => connection)).size).to.equal(1);
    const connections = receiver.connections;
    const answer = await client.post(request(receiver.url("/beyond"), { keepBytes: 10 }));
    expect(answer).to.deep.include({ statusCode: 200, body: Buffer.from("x".repeat(10)), truncated: true });
    await turn();
    await client.post(request(receiver.url("/behind")));
    expect(receiver.connections).to.equal(connections + 1);
  });

  it("joins a body that comes in many pieces", async () => {
    const body = Buffer.from(Array.from({ length: 60_000 }, (_, index) => index % 251));
    receiver.on("/pieces", () => ({ body, headers: { "Content-Length": "60000" } }));
    const answer = await client.post(request(receiver.url("/pieces"), { keepBytes: 65_536 }));
    expect(answer.answered && Buffer.compare(answer.body, body)).to.equal(0);
  });

  it("ends when the remaining time has passed, and names the whole deadline", async () => {
    receiver.on("/never", () => "silence");
    const startedAt = performance.now();
    const answer = await client.post(request(receiver.url("/never"), { timeoutMs: 150 }));
    expect(answer).to.deep.equal({
      answered: false, reason: "timeout", error: "no answer within 5000 ms", connected: true,
    });
    expect(performance.now() - startedAt).to.be.within(140, 2_000);
  });

  it("ends at the deadline even when more time is left", async () => {
    receiver.on("/never", () => "silence");
    const hasty = localClient(receiver.caPem, { deliveryTimeoutMs: 150 });
    const answer = await hasty.post(request(receiver.url("/never"), { timeoutMs: 4_000 }));
    expect(answer).to.deep.equal({
      answered: false, reason: "timeout", error: "no answer within 150 ms", connected: true,
    });
    await hasty.close();
  }).timeout(3_000);

  it("takes the deadline of a request for the configured one", async () => {
    receiver.on("/never", () => "silence");
    const hasty = localClient(receiver.caPem, { deliveryTimeoutMs: 50 });
    const answer = await hasty.post(request(receiver.url("/never"), { timeoutMs: 300, deadlineMs: 400 }));
    expect(answer).to.include({ answered: false, reason: "timeout", error: "no answer within 400 ms" });
    await hasty.close();
  }).timeout(3_000);

  it("gives up connecting before the deadline", async () => {
    const mute = await startSink();
    const hasty = localClient(receiver.caPem, { connectTimeoutMs: 150 });
    const startedAt = performance.now();
    const outcome = await hasty.post(request(`https://127.0.0.1:${mute.port}/`));
    expect(outcome).to.deep.equal({
      answered: false, reason: "timeout", connected: false,
      error: "no connection within 150 ms: the TLS handshake did not end",
    });
    expect(performance.now() - startedAt).to.be.within(140, 2_000);
    await hasty.close();
    await mute.close();
  });

  it("keeps no connection that it gave up", async () => {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const hasty = localClient(receiver.caPem, { connectTimeoutMs: 150 });
    const outcome = hasty.post(request(`https://127.0.0.1:${(server.address() as AddressInfo).port}/`));
    const [socket] = await once(server, "connection") as [Socket];
    socket.resume();
    await Promise.all([outcome, once(socket, "close")]);
    await hasty.close();
    server.close();
  }).timeout(3_000);

  it("trusts the authorities of Node besides the added one", async () => {
    const trusted = getCACertificates("default");
    setDefaultCACertificates([...trusted, receiver.caPem]);
    const another = localClient(makeAuthority().caPem);
    setDefaultCACertificates(trusted);
    expect(await another.post(request(receiver.url("/hook")))).to.include({ statusCode: 200 });
    await another.close();
  });

  it("sends nothing when the deadline passes while it connects", async () => {
    let resolved = () => {};
    const resolving = new Promise<readonly string[]>((resolve) => (resolved = () => resolve(["127.0.0.1"])));
    const slow = localClient(receiver.caPem, { resolve: async () => resolving });
    const url = receiver.url("/too-late", "localhost");
    expect(await slow.post(request(url, { timeoutMs: 100 }))).to.include({ reason: "timeout" });
    resolved();
    await slow.close();
    expect(receiver.requestsTo("/too-late")).to.be.empty;
  });

  it("does not connect when it gave up before the name was resolved", async () => {
    const { promise, resolve } = Promise.withResolvers<readonly string[]>();
    const sink = await startSink();
    const hasty = localClient(receiver.caPem, { connectTimeoutMs: 100, resolve: () => promise });
    const post = (host: string) => hasty.post(request(`https://${host}:${sink.port}/`));
    expect(await post("localhost")).to.include({ error: "no connection within 100 ms" });
    resolve(["127.0.0.1"]);
    await post("127.0.0.1");
    expect(sink.connections, "but for the later one's").to.equal(1);
    await hasty.close();
    await sink.close();
  });

  it("does not let a receiver that never answers delay another, or its own other requests", async () => {
    const silent = await startHostileReceiver("silent handshake", makeAuthority());
    receiver.on("/never", () => "silence");
    const order: string[] = [];
    const call = async (name: string, url: string) => {
      const outcome = await client.post(request(url, { timeoutMs: 1500 }));
      order.push(name);
      return outcome;
    };
    const hung = Array.from({ length: 50 }, () => call("hung", receiver.url("/never")));
    hung.push(...Array.from({ length: 50 }, () => call("hung", `https://127.0.0.1:${silent.port}/`)));
    expect(await call("healthy", receiver.url("/hook"))).to.include({ answered: true });
    for (const outcome of await Promise.all(hung)) expect(outcome).to.include({ reason: "timeout" });
    expect(order[0]).to.equal("healthy");
    await silent.close();
  });

  it("never gives one host's connection to another", async () => {
    const other = await startReceiver({ host: "127.0.0.2", port: receiver.port, certifiedFor: ["127.0.0.2"] });
    const client2 = localClient(receiver.caPem + other.caPem);
    for (const url of [receiver.url("/mine"), other.url("/other", "127.0.0.2"), receiver.url("/mine")]) {
      expect(await client2.post(request(url))).to.include({ statusCode: 200 });
    }
    expect(receiver.requestsTo("/mine")).to.have.lengthOf(2);
    expect(other.requests.map(({ path }) => path)).to.deep.equal(["/other"]);
    await client2.close();
    await other.close();
  });

  it("reports a refused connection, a name without address, and an invalid request", async () => {
    const gone = await startReceiver();
    await gone.close();
    expect(await client.post(request(gone.url()))).to.deep.equal({
      answered: false, reason: "connection", error: "the connection was refused", connected: false,
    });
    const nameless = localClient(receiver.caPem, { resolve: async () => Promise.reject(new Error("internal detail")) });
    expect(await nameless.post(request("https://nowhere.example/"))).to.deep.equal({
      answered: false, reason: "connection", error: "the host name does not resolve", connected: false,
    });
    await nameless.close();
    for (const url of ["http://127.0.0.1/", "nonsense", ""]) {
      const outcome = await client.post(request(url));
      expect(outcome).to.include({ reason: "connection", error: "the address is not an https URL" });
    }
    for (const headers of [{ "X-Bad": "a\r\nb" }, { "Bad Name": "a" }, { "Transfer-Encoding": "chunked" }]) {
      const outcome = await client.post(request(receiver.url("/malformed"), { headers }));
      expect(outcome).to.include({ answered: false, reason: "connection", connected: false });
    }
    expect(receiver.requestsTo("/malformed")).to.be.empty;
  });

  it("survives addresses for which connect itself fails", async () => {
    // TCP knows no multicast: connect(2) itself fails, as it does without a route or a free descriptor.
    for (const addresses of [["ff0e::1"], ["ff0e::1", "ff0e::2"]]) {
      const stranded = localClient(receiver.caPem, { resolve: async () => addresses, allowedNetworks: ["ff00::/8"] });
      const outcome = await stranded.post(request("https://stranded.example/"));
      expect(outcome).to.include({ answered: false, reason: "connection", connected: false });
      await stranded.close();
    }
  });

  it("calls port 443 when the URL names none", async () => {
    const ports: unknown[] = [];
    const connect = Object.getOwnPropertyDescriptor(Socket.prototype, "connect") ?? {};
    Object.defineProperty(Socket.prototype, "connect", {
      ...connect,
      value(this: Socket, { port }: { readonly port?: unknown }) {
        ports.push(port);
        return this.destroy(new Error("not today"));
      },
    });
    try {
      await client.post(request("https://127.0.0.1/"));
    } finally {
      Object.defineProperty(Socket.prototype, "connect", connect);
    }
    expect(ports).to.deep.equal([443]);
  });

  it("finishes open requests when closed, and sends no later ones", async () => {
    const closing = localClient(receiver.caPem);
    receiver.on("/slow", () => ({ delayMs: 100 }));
    const underWay = closing.post(request(receiver.url("/slow")));
    await closing.close();
    expect(await underWay).to.include({ statusCode: 200 });
    const later = await closing.post(request(receiver.url("/hook")));
    expect(later).to.include({ reason: "not sent", error: "nothing was sent: the service is shutting down" });
  });
});
