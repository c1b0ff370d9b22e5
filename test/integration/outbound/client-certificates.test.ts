import { expect } from "chai";
import type { OutboundSettings } from "../../../src/engines/outbound/client.ts";
import type { ClientCertificate, OutboundClient } from "../../../src/kernel/ports/outbound.ts";
import { certificatesOf } from "../../support/certificates.ts";
import { startConnectProxy } from "../../support/connect-proxy.ts";
import { startReceiver, type Receiver } from "../../support/receiver.ts";
import { makeAuthority } from "../../support/tls.ts";
import { localClient, request, turn } from "./setup.ts";

describe("client certificates", () => {
  const authority = makeAuthority();
  const certificates = certificatesOf(authority);
  let receiver: Receiver;
  let names = 0;
  const clients: OutboundClient[] = [];
  before(async () => {
    receiver = await startReceiver({ clientCa: authority.caPem });
  });
  afterEach(async () => {
    await Promise.all(clients.splice(0).map((client) => client.close()));
  });
  after(() => receiver.close());

  const open = (more: Partial<OutboundSettings> = {}) => {
    const client = localClient(receiver.caPem, more);
    clients.push(client);
    return client;
  };
  const make = (made = certificates()): ClientCertificate & { readonly fingerprint: string } =>
    ({ ...made.pair, id: `pair ${(names += 1)}`, fingerprint: made.shown.fingerprint });
  const post = (client: OutboundClient, path: string, clientCertificate?: ClientCertificate) =>
    client.post(request(receiver.url(path), { clientCertificate }));
  const seenBy = (path: string) =>
    receiver.requestsTo(path).map(({ clientFingerprint, connection }) => ({ clientFingerprint, connection }));

  it("are shown to a receiver that demands them, which answers no call without one", async () => {
    const [client, pair] = [open(), make()];
    expect(await post(client, "/demands", pair)).to.include({ answered: true, statusCode: 200 });
    expect(seenBy("/demands")).to.containSubset([{ clientFingerprint: pair.fingerprint }]);
    expect(await post(client, "/demands")).to.include({
      answered: false, reason: "tls", error: "the receiver demands a client certificate",
    });
    const stranger = make(certificatesOf()());
    expect(await post(client, "/demands", stranger)).to.include({ answered: false });
    expect(receiver.requestsTo("/demands")).to.have.length(1);
  });

  it("share no connection; calls with the same one do", async () => {
    const [client, one, other] = [open(), make(), make()];
    for (const pair of [one, other, one, other]) {
      await post(client, "/shared", pair);
      await turn();
    }
    const seen = seenBy("/shared");
    expect(seen.map(({ clientFingerprint }) => clientFingerprint)).to.deep.equal(
      [one, other, one, other].map(({ fingerprint }) => fingerprint));
    expect(new Set(seen.map(({ connection }) => connection))).to.have.length(2);
  });

  it("are shown through the outbound proxy, to the receiver alone", async () => {
    const proxy = await startConnectProxy();
    const client = open({ proxy: { host: "127.0.0.1", port: proxy.port, authorization: null } });
    const pair = make();
    expect(await client.prepare?.(receiver.url("/through"))).to.equal(null);
    expect(await post(client, "/through", pair)).to.include({ statusCode: 200 });
    expect(seenBy("/through")).to.containSubset([{ clientFingerprint: pair.fingerprint }]);
    expect(proxy.requests).to.have.length(1);
    await proxy.stop();
  });

  it("with intermediate ones are accepted by a receiver that trusts the root alone", async () => {
    const below = authority.intermediate();
    const { pair, shown } = certificatesOf(below)();
    const chained = { ...pair, certificate: pair.certificate + below.caPem, id: "chained" };
    expect(await post(open(), "/chained", chained)).to.include({ statusCode: 200 });
    expect(seenBy("/chained")).to.containSubset([{ clientFingerprint: shown.fingerprint }]);
  });

  it("that TLS does not take fail the call; calls after the end are not sent", async () => {
    const client = open();
    const broken = { ...make(), privateKey: make().privateKey };
    expect(await post(client, "/broken", broken)).to.include({ reason: "tls", connected: false });
    await clients.pop()?.close();
    expect(await post(client, "/closed", make())).to.include({ reason: "not sent" });
    expect(seenBy("/closed")).to.deep.equal([]);
  });
});
