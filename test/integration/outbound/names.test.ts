import { createSecureContext } from "node:tls";
import { expect } from "chai";
import { Pool } from "undici";
import { TokenCache } from "../../../src/delivery/requests/token-cache.ts";
import { createOutboundClient } from "../../../src/engines/outbound/client.ts";
import { createGuardedAgent } from "../../../src/engines/outbound/guarded-agent.ts";
import type { Resolve } from "../../../src/engines/outbound/resolver.ts";
import type { OutboundClient } from "../../../src/kernel/ports/outbound.ts";
import { unique } from "../../support/accounts.ts";
import { startReceiver, type Receiver } from "../../support/receiver.ts";
import { makeAuthority, type Authority } from "../../support/tls.ts";
import { request, startSink, turn, type Sink } from "./setup.ts";

const refused = {
  answered: false, reason: "address refused",
  error: "address refused: the host has an address that may not be called", connected: false,
};
/** A public address without a server (its network is not routed from here). */
const publicAddress = "192.31.196.1";

describe("S2 names and addresses at connect time", () => {
  let authority: Authority;
  let receiver: Receiver;
  let sink: Sink;

  before(async () => {
    authority = makeAuthority();
    const certifiedFor = ["hook.example", "localhost", "hook.localhost", "127.0.0.1"];
    receiver = await startReceiver({ authority, certifiedFor });
    sink = await startSink();
  });
  after(async () => {
    await sink.close();
    await receiver.close();
  });

  /** A client with this resolver; it may call only the public internet and `allowedNetworks`. */
  const clientWith = (resolve: Resolve, allowedNetworks: readonly string[] = []): OutboundClient =>
    createOutboundClient({
      connectTimeoutMs: 1500, deliveryTimeoutMs: 3000, allowedNetworks, extraCa: authority.caPem, resolve,
    });

  it("refuse a literal address on every path, without a look-up", async () => {
    const client = clientWith(async () => Promise.reject(new Error("asked")));
    for (const host of ["127.0.0.1", "[::ffff:127.0.0.1]", "2130706433", "0.0.0.0", "[::1]", "169.254.169.254"]) {
      expect(await client.post(request(`https://${host}:${sink.port}/`)), host).to.deep.equal(refused);
    }
    expect(sink.connections).to.equal(0);
    await client.close();
  });

  it("refuse a name with any forbidden address, at any place in the answer", async () => {
    const answers = [
      ["127.0.0.1"], ["::1"], ["::ffff:127.0.0.1"], [publicAddress, "127.0.0.1"], ["127.0.0.1", publicAddress],
      ["2606:4700::1", publicAddress, "fe80::1%lo"], ["64:ff9b::7f00:1"], [],
    ];
    for (const answer of answers) {
      const client = clientWith(async () => answer);
      expect(await client.post(request(`https://hook.example:${sink.port}/`)), answer.join()).to.deep.equal(refused);
      await client.close();
    }
    expect(sink.connections).to.equal(0);
  });

  it("call localhost when allowed: machines give it the loopback addresses of both families", async () => {
    for (const both of [["::1", "127.0.0.1"], ["127.0.0.1", "::1"]]) {
      const client = clientWith(async () => both, ["127.0.0.0/8"]);
      for (const host of ["localhost", "LOCALHOST.", "hook.localhost"]) {
        expect(await client.post(request(receiver.url("/", host))), host).to.include({ statusCode: 200 });
      }
      for (const host of ["hook.example", "localhost.example", "mylocalhost"]) {
        expect(await client.post(request(`https://${host}:${sink.port}/`)), host).to.deep.equal(refused);
      }
      await client.close();
    }
    const client = clientWith(async () => ["::1", "127.0.0.1"]);
    expect(await client.post(request(`https://localhost:${sink.port}/`))).to.deep.equal(refused);
    expect(sink.connections).to.equal(0);
    await client.close();
  });

  it("connect to the checked address, though DNS answers otherwise a moment later", async () => {
    let asked = 0;
    const client = clientWith(async () => {
      asked += 1;
      return asked % 2 === 1 ? [publicAddress] : ["127.0.0.1"];
    });
    const url = `https://hook.example:${sink.port}/`;
    const first = await client.post(request(url));
    expect(first).to.include({ answered: false }).and.not.include({ reason: "address refused" });
    expect(asked).to.equal(1);
    expect(await client.post(request(url))).to.deep.equal(refused);
    expect(sink.connections).to.equal(0);
    await client.close();
  });

  it("connect to the checked address, though the answer itself changes", async () => {
    const shifting: string[] = [publicAddress];
    const client = clientWith(async () => {
      setImmediate(() => (shifting[0] = "127.0.0.1"));
      return shifting;
    });
    expect(await client.post(request(`https://hook.example:${sink.port}/`))).to.include({ answered: false });
    expect(sink.connections).to.equal(0);
    await client.close();
  });

  it("check the actual address of a connection again before its first byte", async () => {
    let judged = 0;
    const agent = createGuardedAgent({
      allows: () => (judged += 1) === 1,
      resolve: async () => ["127.0.0.1"],
      connectTimeoutMs: 1000,
      secureContext: createSecureContext({ ca: authority.caPem }),
    });
    const reached = await startSink();
    const origin = `https://hook.example:${reached.port}`;
    const error = await agent.request({ origin, path: "/", method: "POST" }).then(
      () => null, (reason: unknown) => reason);
    expect(error).to.include({ reason: "address refused" });
    expect(judged).to.equal(2);
    expect(reached).to.include({ connections: 1, bytes: 0 });
    await agent.close();
    await reached.close();
  });

  it("keep using a connection that was allowed, and ask again for the next one", async () => {
    let answer = ["127.0.0.1"];
    const client = clientWith(async () => answer, ["127.0.0.1/32"]);
    const path = unique("/kept");
    const url = receiver.url(path, "hook.example");
    expect(await client.post(request(url))).to.include({ statusCode: 200 });
    await turn();
    answer = ["127.0.0.2"];
    receiver.on(path, () => ({ headers: { Connection: "close" } }));
    expect(await client.post(request(url))).to.include({ statusCode: 200 });
    await turn();
    expect(await client.post(request(url))).to.deep.equal(refused);
    const [first, second, ...more] = receiver.requestsTo(path);
    expect(first?.connection).to.equal(second?.connection);
    expect(more).to.be.empty;
    await client.close();
  });

  it("are resolved again within a minute under steady traffic, and no request is lost", async () => {
    const { port } = receiver;
    const moved = await startReceiver({ authority, certifiedFor: ["hook.example"], host: "127.0.0.2", port });
    let answer = ["127.0.0.1"];
    const client = clientWith(async () => answer, ["127.0.0.0/8"]);
    const path = unique("/moving");
    const slow = unique("/slow");
    const { promise: released, resolve: release } = Promise.withResolvers<object>();
    const { promise: started, resolve: start } = Promise.withResolvers<null>();
    receiver.on(slow, async () => {
      start(null);
      return released;
    });
    const call = (to: string) => client.post(request(receiver.url(to, "hook.example")));
    const wave = async () => {
      const outcomes = await Promise.all(Array.from({ length: 5 }, () => call(path)));
      for (const outcome of outcomes) expect(outcome).to.include({ statusCode: 200 });
      await turn();
    };
    const { now } = Date;
    try {
      await wave();
      const underWay = call(slow);
      await started;
      answer = ["127.0.0.2"];
      for (let seconds = 0; seconds <= 45; seconds += 5) {
        Date.now = () => now() + seconds * 1_000;
        await wave();
      }
      const before = receiver.requestsTo(path).length;
      expect(before, "until then on the old connections").to.be.above(5);
      Date.now = () => now() + 60_000;
      for (let count = 0; count < 3; count += 1) await wave();
      expect(receiver.requestsTo(path)).to.have.length(before);
      expect(moved.requestsTo(path).length).to.be.above(14);
      release({ body: "still here" });
      expect(await underWay).to.deep.include({ statusCode: 200, body: Buffer.from("still here") });
      await call(slow);
      expect(receiver.requestsTo(slow), "what it came by is not used again").to.have.length(1);
    } finally {
      Date.now = now;
    }
    await client.close();
    await moved.close();
  });

  it("hold for token endpoints too", async () => {
    let asked = 0;
    const client = clientWith(async () => ((asked += 1) === 1 ? [publicAddress, "127.0.0.1"] : ["127.0.0.1"]));
    const tokens = new TokenCache({
      outbound: client,
      clock: { now: () => 0, monotonic: () => 0, schedule: () => ({ cancel: () => {} }) },
      userAgent: "test", deadlineMs: 1000, capacity: 10,
    });
    for (const host of ["id.example", "id.example", "127.0.0.1", "[::1]"]) {
      const tokenEndpoint = `https://${host}:${sink.port}/`;
      const grant = { tenantId: "tenant", tokenEndpoint, clientId: "a", clientSecret: "b" };
      const error = `the token endpoint gave no token: ${refused.error}`;
      expect(await tokens.token(grant)).to.deep.equal({ error, retryAfterMs: null });
    }
    expect(sink.connections).to.equal(0);
    await client.close();
  });

  it("try the next address when one does not answer", async () => {
    const client = clientWith(async () => ["127.0.0.99", "127.0.0.1"], ["127.0.0.0/8"]);
    expect(await client.post(request(receiver.url("/next", "hook.example")))).to.include({ statusCode: 200 });
    await client.close();
  });

  it("show the name, without a final dot, to the receiver's TLS, and expect it in the certificate", async () => {
    const client = clientWith(async () => ["127.0.0.1"], ["127.0.0.0/8"]);
    expect(await client.post(request(receiver.url("/dot", "hook.example.")))).to.include({ statusCode: 200 });
    expect(receiver.requestsTo("/dot")[0]?.servername).to.equal("hook.example");
    expect(await client.post(request(receiver.url("/other", "other.example")))).to.include({
      reason: "tls", error: "the certificate is not for this host",
    });
    // Again, should the first handshake have left a session behind.
    expect(await client.post(request(receiver.url("/other", "other.example")))).to.include({ reason: "tls" });
    await client.close();
  });

  it("would have been reached without the guard", async () => {
    const reached = await startSink();
    const pool = new Pool(`https://127.0.0.1:${reached.port}`, { connectTimeout: 100 });
    await pool.request({ path: "/", method: "POST" }).catch(() => {});
    expect(reached.connections).to.be.above(0);
    await pool.destroy();
    await reached.close();
  });
});
