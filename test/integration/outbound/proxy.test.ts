import { expect } from "chai";
import type { OutboundSettings } from "../../../src/engines/outbound/client.ts";
import type { OutboundClient } from "../../../src/kernel/ports/outbound.ts";
import { startConnectProxy, type ConnectAnswer, type ConnectProxy } from "../../support/connect-proxy.ts";
import { freePort } from "../../support/free-port.ts";
import { startReceiver, type Receiver } from "../../support/receiver.ts";
import { makeAuthority } from "../../support/tls.ts";
import { localClient, request, startSink, turn } from "./setup.ts";

const publicAddress = "192.31.196.1";

describe("outbound proxy", () => {
  let receiver: Receiver;
  let proxy: ConnectProxy;
  const clients: OutboundClient[] = [];
  before(async () => {
    receiver = await startReceiver({ authority: makeAuthority(), certifiedFor: ["hook.example", "127.0.0.1"] });
  });
  beforeEach(async () => {
    proxy = await startConnectProxy();
  });
  afterEach(async () => {
    await Promise.all(clients.splice(0).map((client) => client.close()));
    await proxy.stop().catch(() => undefined);
  });
  after(() => receiver.close());

  const through = (more: Partial<OutboundSettings> = {}): OutboundClient => {
    const client = localClient(receiver.caPem, {
      proxy: { host: "127.0.0.1", port: proxy.port, authorization: null }, resolve: async () => ["127.0.0.1"], ...more,
    });
    clients.push(client);
    return client;
  };
  const named = (path = "/", name = "hook.example") => receiver.url(path, name);

  it("gets the address that the relay resolved; TLS has the name, and checks the certificate for it", async () => {
    const client = through();
    expect(await client.post(request(named("/hook")))).to.include({ answered: true, statusCode: 200 });
    expect(proxy.requests).to.deep.equal([{ target: `127.0.0.1:${receiver.port}`, authorization: undefined }]);
    const [got] = receiver.requestsTo("/hook");
    expect(got).to.include({ servername: "hook.example" });
    expect(got?.headers).to.include({ host: `hook.example:${receiver.port}` });
    expect(got?.headers).not.to.have.any.keys("proxy-authorization", "via");
    const other = await client.post(request(named("/hook", "other.example")));
    expect(other).to.include({ reason: "tls", error: "the certificate is not for this host" });
  });

  it("gets its own name and password, and the receiver does not", async () => {
    const authorization = `Basic ${Buffer.from("me:pass").toString("base64")}`;
    const client = through({ proxy: { host: "127.0.0.1", port: proxy.port, authorization } });
    await client.post(request(named("/proven")));
    expect(proxy.requests).to.deep.include({ target: `127.0.0.1:${receiver.port}`, authorization });
    expect(receiver.requestsTo("/proven")[0]?.headers).not.to.have.property("proxy-authorization");
  });

  it("carries many requests in one tunnel", async () => {
    const client = through();
    for (let count = 0; count < 3; count += 1) {
      await client.post(request(named("/again")));
      await turn();
    }
    expect(proxy.requests).to.have.length(1);
  });

  it("is asked for an IPv6 address in brackets", async () => {
    proxy.destination = () => ({ host: "127.0.0.1", port: receiver.port });
    const client = through({ resolve: async () => ["2606:4700::1111"] });
    expect(await client.post(request(named()))).to.include({ answered: true });
    expect(proxy.requests[0]?.target).to.equal(`[2606:4700::1111]:${receiver.port}`);
  });

  it("is asked for the next address if the proxy cannot reach one", async () => {
    proxy.answer = ({ target }) => (target.startsWith("[") ? 503 : "tunnel");
    const client = through({ resolve: async () => ["2606:4700::1111", "127.0.0.1"] });
    expect(await client.post(request(named()))).to.include({ answered: true });
    expect(proxy.requests).to.have.length(2);
  });

  it("is never asked for a forbidden address", async () => {
    const sink = await startSink();
    const never = [["127.0.0.1"], ["::1"], [publicAddress, "10.0.0.1"], ["169.254.169.254"], ["::ffff:127.0.0.1"]];
    for (const addresses of never) {
      const client = through({ allowedNetworks: [], resolve: async () => addresses });
      const answer = await client.post(request(`https://hook.example:${sink.port}/`));
      expect(answer, addresses.join()).to.include({ answered: false, reason: "address refused" });
      const [address = ""] = addresses;
      const literal = address.includes(":") ? `[${address}]` : address;
      if (addresses.length === 1) {
        const direct = await client.post(request(`https://${literal}:${sink.port}/`));
        expect(direct, literal).to.include({ answered: false, reason: "address refused" });
      }
    }
    expect(proxy.requests).to.deep.equal([]);
    expect(sink.connections).to.equal(0);
    await sink.close();
  });

  it("is not asked where the name does not resolve: that is the receiver's failure", async () => {
    const client = through({ resolve: async () => Promise.reject(new Error("no")) });
    expect(await client.post(request(named()))).to.include({ reason: "connection" });
    expect(proxy.requests).to.deep.equal([]);
  });

  const own: readonly (readonly [string, ConnectAnswer, string])[] = [
    ["that asks for a name and password", 407, "answered 407 to CONNECT"],
    ["that refuses the target", 403, "answered 403 to CONNECT"],
    ["that redirects", 302, "gave no valid answer to CONNECT"],
    ["that answers garbage", { bytes: "\0\xff\r\n\r\n" }, "gave no valid answer to CONNECT"],
    [
      "that never ends its answer", { bytes: "HTTP/1.1 200 OK\r\n".padEnd(20_000, "x") },
      "gave no valid answer to CONNECT",
    ],
    ["that closes the connection", "end", "closed the connection without a valid answer to CONNECT"],
    ["that does not answer", "silence", "gave no answer to CONNECT within 300 ms"],
  ];
  for (const [what, answer, problem] of own) {
    it(`${what} fails by itself`, async () => {
      proxy.answer = () => answer;
      const client = through({ connectTimeoutMs: 300 });
      expect(await client.post(request(named()))).to.deep.equal({
        answered: false, reason: "proxy", error: `the outbound proxy ${problem}`, connected: false,
      });
      expect(await client.prepare?.(named())).to.equal(`the outbound proxy ${problem}`);
    });
  }

  it("that does not answer fails by itself, also if the call has less time than the connection", async () => {
    proxy.answer = () => "silence";
    const client = through();
    const answer = await client.post(request(named(), { timeoutMs: 100 }));
    expect(answer).to.include({ reason: "proxy", error: "the outbound proxy gave no answer to CONNECT within 100 ms" });
  });

  it("that is not there fails by itself", async () => {
    const client = through({ proxy: { host: "127.0.0.1", port: await freePort(), authorization: null } });
    expect(await client.post(request(named()))).to.include({
      reason: "proxy", error: "the outbound proxy cannot be used: the connection was refused",
    });
  });

  for (const status of [500, 502, 503, 504]) {
    it(`passes the receiver's failure on with ${status}`, async () => {
      proxy.answer = () => status;
      const client = through();
      expect(await client.prepare?.(named())).to.equal(null);
      expect(await client.post(request(named()))).to.deep.equal({
        answered: false, reason: "connection", connected: false,
        error: `the connection failed: the outbound proxy answered ${status} to CONNECT`,
      });
    });
  }

  it("opens a tunnel ahead of a call, which the call uses", async () => {
    const client = through();
    expect(await client.prepare?.(named())).to.equal(null);
    expect(proxy.requests).to.have.length(1);
    expect(await client.post(request(named("/ahead")))).to.include({ answered: true });
    expect(proxy.requests).to.have.length(1);
  });

  it("is not asked by a client without one", () => {
    const client = localClient(receiver.caPem);
    clients.push(client);
    expect(client.prepare).to.equal(undefined);
  });
});
