import { expect } from "chai";
import { dayMs } from "../../src/kernel/domain/time.ts";
import { text, type Json } from "../support/api-client.ts";
import { certificatesOf, type TestCertificate } from "../support/certificates.ts";
import { freePort } from "../support/free-port.ts";
import { startReceiver, type Receiver } from "../support/receiver.ts";
import {
  eventReaches, eventually, openAccount, startTestRelay, type Account, type TestRelay,
} from "../support/relay.ts";
import { makeAuthority } from "../support/tls.ts";

describe("a receiver that demands client certificates", () => {
  const authority = makeAuthority();
  const accepted = certificatesOf(authority);
  let receiver: Receiver;
  let relay: TestRelay;
  let account: Account;
  before(async () => {
    receiver = await startReceiver({ clientCa: authority.caPem });
    relay = await startTestRelay(receiver, { RELAY_PORT: String(await freePort()) });
    account = await openAccount(relay.url);
  });
  after(async () => {
    await relay.close();
    await receiver.close();
  });

  const destination = (path: string, { pair: clientCertificate }: TestCertificate, more: object = {}) =>
    account.destination({ url: receiver.url(path), clientCertificate, ...more });
  const post = async (ingest: string) => text(await account.producer.post(ingest, { order: 1 }), "eventId");
  /** The attempts of an event, once enough of them ended with the error. */
  const failedBy = async (id: string, error: string, count = 1) => {
    const { items } = await eventually(
      () => account.owner.get(`/api/v1/events/${id}/attempts`) as Promise<{ readonly items: readonly Json[] }>,
      ({ items }) => items.filter((attempt) => attempt["error"] === error).length >= count,
    );
    return items.filter((attempt) => attempt["error"] === error);
  };
  const shownTo = (path: string) => receiver.requestsTo(path).map(({ clientFingerprint }) => clientFingerprint);

  it("gets the events of a destination with one, and none of a destination without one", async () => {
    const certificate = accepted();
    const { ingest } = await destination("/with", certificate);
    await eventReaches(account.owner, await post(ingest), "Succeeded");
    expect(shownTo("/with")).to.deep.equal([certificate.shown.fingerprint]);
    const without = await account.destination({ url: receiver.url("/without") });
    await failedBy(await post(without.ingest), "the receiver demands a client certificate");
    expect(shownTo("/without")).to.deep.equal([]);
  });

  it("sees the certificate of the destination at its token endpoint, too", async () => {
    const certificate = accepted();
    receiver.on("/token", () => ({ body: JSON.stringify({ access_token: "made-for-the-certificate" }) }));
    const { ingest } = await destination("/granted", certificate, {
      authType: "JwtBearer",
      credentials: { tokenEndpoint: receiver.url("/token"), clientId: "a", clientSecret: "b" },
    });
    await eventReaches(account.owner, await post(ingest), "Succeeded");
    const { fingerprint } = certificate.shown;
    expect([shownTo("/token"), shownTo("/granted")]).to.deep.equal([[fingerprint], [fingerprint]]);
    const [granted] = receiver.requestsTo("/granted");
    expect(granted?.headers).to.include({ authorization: "Bearer made-for-the-certificate" });
  });

  it("gets no request once the certificate has expired: the attempt names the certificate and its end", async () => {
    receiver.on("/expiring", () => ({ status: 500 }));
    const certificate = accepted(3_000);
    const { ingest } = await destination("/expiring", certificate, {
      retryPolicy: { schedule: ["300ms"], maxTrys: 20 }, circuit: { failures: 100, timer: 60 },
    });
    const event = await post(ingest);
    const error = `the client certificate expired at ${certificate.shown.notAfter}: nothing was sent`;
    const [first] = await failedBy(event, error);
    expect(first).to.include({ outcome: "failed", reason: "tls", statusCode: null });
    const { length } = receiver.requestsTo("/expiring");
    await failedBy(event, error, 3);
    expect(receiver.requestsTo("/expiring")).to.have.length(length);
  });

  it("is told of by a notification 14 days before the certificate ends, once for each certificate", async () => {
    const told = await destination("/told", accepted());
    await account.owner.post("/api/v1/notification-subscriptions", {
      destinationUrlId: told.id, types: ["certificate.expiring"],
    });
    const [soon, next] = [accepted(13 * dayMs), accepted(12 * dayMs)];
    const { id } = await destination("/soon", soon);
    await destination("/later", accepted(15 * dayMs));
    const bodies = () => receiver.requestsTo("/told")
      .map(({ body }) => JSON.parse(body.toString()) as { readonly type: string; readonly data: Json })
      .filter(({ data }) => data["url"] !== receiver.url("/expiring"));
    const expected = ({ shown }: TestCertificate) =>
      ({ destinationUrlId: id, name: null, url: receiver.url("/soon"), ...shown });
    // The relay looks for certificates at its start, and every minute.
    await relay.restart();
    await receiver.waitFor(() => bodies().length === 1);
    await account.owner.patch(`/api/v1/destinations/${id}`, { clientCertificate: next.pair });
    await relay.restart();
    await receiver.waitFor(() => bodies().length === 2);
    expect(bodies().map(({ type, data }) => [type, data])).to.deep.equal(
      [soon, next].map((certificate) => ["certificate.expiring", expected(certificate)]));
  });
});
