import dns from "node:dns/promises";
import { syncBuiltinESMExports } from "node:module";
import { expect } from "chai";
import type { Schemas } from "../../packages/client/src/index.ts";
import { startSink, type Sink } from "../integration/outbound/setup.ts";
import { startConnectProxy, type ConnectProxy } from "../support/connect-proxy.ts";
import { startReceiver, type Receiver } from "../support/receiver.ts";
import { eventually, openAccount, startTestRelay, type TestRelay } from "../support/relay.ts";
import { makeAuthority } from "../support/tls.ts";

/** A public address without a host: its network is not routed from here. */
const publicAddress = "192.31.196.1";
const refusal = "address refused: the host has an address that may not be called";

/** The addresses of each name, one list for each look-up; the last one stays. */
const answers = new Map<string, readonly string[][]>();
const asked = new Map<string, number>();
const { lookup } = dns;

function answer(host: string): readonly string[] {
  const count = asked.get(host) ?? 0;
  asked.set(host, count + 1);
  const turns = answers.get(host) ?? [];
  return turns[Math.min(count, turns.length - 1)] ?? [];
}

for (const way of ["directly", "through a proxy"]) {
  const isProxied = way !== "directly";
  describe(`S2 changing names, resolved by a running relay, calling ${way}`, () => {
    let receiver: Receiver;
    let sink: Sink;
    let relay: TestRelay;
    let proxy: ConnectProxy;
    before(async () => {
      const authority = makeAuthority();
      receiver = await startReceiver({ authority, certifiedFor: ["kept.example"] });
      sink = await startSink();
      const changing = async (host: string) => answer(host).map((address) => ({ address, family: 4 }));
      dns.lookup = changing as unknown as typeof lookup;
      syncBuiltinESMExports();
      proxy = await startConnectProxy();
      proxy.answer = () => 502;
      const env = {
        RELAY_CONNECT_TIMEOUT: "200ms", RELAY_ALLOWED_NETWORKS: "127.0.0.9/32",
        ...isProxied && { RELAY_OUTBOUND_PROXY: `http://127.0.0.1:${proxy.port}` },
      };
      relay = await startTestRelay(receiver, env);
    });
    beforeEach(() => asked.clear());
    after(async () => {
      dns.lookup = lookup;
      syncBuiltinESMExports();
      await relay.close();
      await proxy.stop();
      await sink.close();
      await receiver.close();
    });
    afterEach(() => {
      const targets = [...new Set(proxy.requests.map(({ target }) => target))];
      expect(targets.filter((target) => target !== `${publicAddress}:${sink.port}`)).to.deep.equal([]);
    });

    /** The errors of the three failed attempts at an event. */
    const errorsOf = async (destination: Schemas["CreateDestinationRequest"]): Promise<string[]> => {
      const account = await openAccount(relay.url, { maxTrys: 3 });
      const { ingest } = await account.destination(destination);
      const { eventId } = await account.producer.post(ingest, {});
      const path = `/api/v1/events/${String(eventId)}`;
      await eventually(() => account.owner.get(path), ({ status }) => status === "CriticalFailure");
      const { items } = (await account.owner.get(`${path}/attempts`)) as { items: { error: string }[] };
      return items.map(({ error }) => error);
    };

    it("are refused at every attempt if any of their addresses is forbidden", async () => {
      const mixed = [
        [["127.0.0.1"]], [[publicAddress, "127.0.0.1"]], [["127.0.0.1", publicAddress]], [["::1"]],
        [["::ffff:127.0.0.1"]], [["169.254.169.254"]], [[publicAddress, "10.0.0.1", publicAddress]],
      ];
      const outcomes = await Promise.all(mixed.map(async (turns, index) => {
        answers.set(`mixed-${index}.example`, turns);
        return errorsOf({ url: `https://mixed-${index}.example:${sink.port}/` });
      }));
      for (const errors of outcomes) expect(errors).to.deep.equal([refusal, refusal, refusal]);
      expect(sink.connections).to.equal(0);
    });

    it("are called at the checked address, though they resolve to another one right after", async () => {
      // Through a proxy the name is resolved once more, before the attempt is claimed.
      const checked = Array.from({ length: isProxied ? 2 : 1 }, () => [publicAddress]);
      answers.set("rebind.example", [...checked, ["127.0.0.1"]]);
      const errors = await errorsOf({ url: `https://rebind.example:${sink.port}/` });
      expect(errors[0]).to.not.equal(refusal);
      expect(errors.slice(1)).to.deep.equal([refusal, refusal]);
      expect(asked.get("rebind.example")).to.be.at.least(3);
      expect(proxy.requests.length > 0).to.equal(isProxied);
      expect(sink.connections).to.equal(0);
    });

    it("of token endpoints are checked as well", async () => {
      answers.set("token.example", [[publicAddress, "127.0.0.1"], ["127.0.0.1"], ["::1"]]);
      const credentials = { tokenEndpoint: `https://token.example:${sink.port}/`, clientId: "a", clientSecret: "b" };
      const errors = await errorsOf({ url: "https://kept.example/", authType: "JwtBearer", credentials });
      expect(errors).to.have.length(3);
      for (const error of errors) expect(error).to.equal(`the token endpoint gave no token: ${refusal}`);
      expect(sink.connections).to.equal(0);
    });
  });
}
