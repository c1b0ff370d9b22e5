import { createPublicKey, verify } from "node:crypto";
import { expect } from "chai";
import { secretFingerprint, sign, signerOf } from "../../src/kernel/tools/signature.ts";
import { text } from "../support/api-client.ts";
import { startReceiver, type ReceivedRequest, type Receiver } from "../support/receiver.ts";
import { eventually, openAccount, startTestRelay, type TestRelay } from "../support/relay.ts";

/** A receiver's check of `webhook-signature` by its secrets, as in docs/verify-signatures.md. */
function isSignedByOne(secrets: readonly string[], { headers, body }: ReceivedRequest): boolean {
  const at = Number(headers["webhook-timestamp"]) * 1000;
  const signatures = secrets.map((secret) => sign(signerOf(secret), String(headers["webhook-id"]), at, body));
  return signatures.some((signed) => signed["webhook-signature"] === headers["webhook-signature"]);
}

describe("a webhook secret replaced as the document says", () => {
  let receiver: Receiver;
  let relay: TestRelay;
  beforeEach(async () => {
    receiver = await startReceiver();
    relay = await startTestRelay(receiver, { RELAY_RETRY_SCHEDULE: "10ms" });
  });
  afterEach(async () => {
    await relay.close();
    await receiver.close();
  });

  it("is refused by a receiver without the new secret, which gets the event again under that secret", async () => {
    const account = await openAccount(relay.url, { maxTrys: 1_000 });
    const secrets = [account.webhookSecret];
    receiver.on("/hook", (request) => ({ status: isSignedByOne(secrets, request) ? 204 : 401 }));
    const { ingest } = await account.destination({ url: receiver.url("/hook") });
    const event = async () => `/api/v1/events/${text(await account.producer.post(ingest, {}), "eventId")}`;
    const delivered = async (path: string) =>
      eventually(() => account.owner.get(path), ({ status }) => status === "Succeeded");

    await delivered(await event());
    const replaced = await account.owner.post(`/api/v1/tenants/${account.tenantId}/webhook-secret`, {});
    const refused = await event();
    await eventually(() => account.owner.get(refused), ({ currentRetryCount }) => Number(currentRetryCount) > 0);
    secrets.push(text(replaced, "webhookSecret"));
    await delivered(refused);
    const { items } = (await account.owner.get(`${refused}/attempts`)) as { items: { statusCode: number }[] };
    expect([items[0]?.statusCode, items.at(-1)?.statusCode]).to.deep.equal([401, 204]);
    // No delivery is signed with the former secret any more.
    secrets.shift();
    await delivered(await event());
  });

  it("gives way to a destination's own secret and key, which anyone verifies by the public key", async () => {
    const account = await openAccount(relay.url);
    receiver.on("/own", () => ({ status: 204 }));
    const { ingest, id } = await account.destination({ url: receiver.url("/own") });
    const path = `/api/v1/destinations/${id}`;
    const replaced = await account.owner.post(`${path}/signing-secret`, { gracePeriodSeconds: 3_600 });
    const own = text(replaced, "webhookSecret");
    const publicKey = text(await account.owner.post(`${path}/signing-key`, {}), "publicKey");
    const delivered = async () => {
      const eventId = text(await account.producer.post(ingest, {}), "eventId");
      const sent = await eventually(
        async () => receiver.requests.find(({ headers }) => headers["webhook-id"] === eventId), (found) => !!found);
      const { headers, body } = sent ?? expect.fail("nothing was sent");
      const at = Number(headers["webhook-timestamp"]) * 1000;
      const by = (secret: string) => sign(signerOf(secret), eventId, at, body);
      const { items } = (await account.owner.get(`/api/v1/events/${eventId}/history`)) as {
        items: { type: string; data: object }[];
      };
      const content = Buffer.from(`${eventId}.${String(headers["webhook-timestamp"])}.${body.toString()}`);
      return {
        signatures: String(headers["webhook-signature"]).split(" "), by, content,
        service: headers["x-service-signature"],
        started: items.find(({ type }) => type === "DeliveryAttemptStarted")?.data,
      };
    };
    const { signatures, by, service, content, started } = await delivered();
    expect(signatures.slice(0, -1)).to.deep.equal(
      [own, account.webhookSecret].map((secret) => by(secret)["webhook-signature"]));
    expect(service).to.equal(by(own)["X-Service-Signature"]);
    expect(started).to.deep.include({
      secretFingerprint: secretFingerprint(own),
      secretFingerprints: [own, account.webhookSecret].map(secretFingerprint),
      signingKeyFingerprint: secretFingerprint(publicKey),
    });
    const [, ed25519 = ""] = signatures.at(-1)?.split("v1a,") ?? [];
    const x = Buffer.from(publicKey.slice(5), "base64").toString("base64url");
    const key = createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x }, format: "jwk" });
    expect(verify(null, content, key, Buffer.from(ed25519, "base64"))).to.equal(true);
    const keys = await fetch(`${relay.url}/api/v1/tenants/${account.tenantId}/signing-keys`);
    expect(await keys.json()).to.deep.equal({ keys: [{ destinationUrlId: id, publicKey }] });

    await account.owner.post(`${path}/signing-secret/expire`, {});
    await account.owner.delete(`${path}/signing-key`);
    const alone = await delivered();
    expect(alone.signatures).to.deep.equal([alone.by(own)["webhook-signature"]]);
    await account.owner.delete(`${path}/signing-secret`);
    const again = await delivered();
    expect(again.signatures).to.deep.equal([again.by(account.webhookSecret)["webhook-signature"]]);
    expect(again.started).to.not.have.any.keys("secretFingerprints", "signingKeyFingerprint");
  });

  it("signs beside the new one until the grace period ends, which is recorded", async () => {
    const account = await openAccount(relay.url);
    const [path, former] = [`/api/v1/tenants/${account.tenantId}/webhook-secret`, account.webhookSecret];
    receiver.on("/hook", (request) => ({ status: 200, body: `echo ${former.slice(6)} ${request.body.toString()}` }));
    const { ingest } = await account.destination({ url: receiver.url("/hook") });
    const signatures = async () => {
      const eventId = text(await account.producer.post(ingest, {}), "eventId");
      const event = `/api/v1/events/${eventId}`;
      await eventually(() => account.owner.get(event), ({ status }) => status === "Succeeded");
      const sent = receiver.requests.find(({ headers }) => headers["webhook-id"] === eventId);
      const { items } = (await account.owner.get(`${event}/history`)) as {
        items: { type: string; data: { secretFingerprint: string; secretFingerprints?: string[] } }[];
      };
      const started = items.find(({ type }) => type === "DeliveryAttemptStarted");
      return {
        sent, signed: String(sent?.headers["webhook-signature"]).split(" "), data: started?.data,
        told: JSON.stringify(items),
      };
    };
    const replaced = text(await account.owner.post(path, { gracePeriodSeconds: 3_600 }), "webhookSecret");
    const both = await signatures();
    if (!both.sent) return expect.fail("nothing was sent");
    const byOne = (secret: string) =>
      sign(signerOf(secret), String(both.sent?.headers["webhook-id"]),
        Number(both.sent?.headers["webhook-timestamp"]) * 1000, both.sent?.body ?? Buffer.of());
    expect(both.signed).to.deep.equal([replaced, former].map((secret) => byOne(secret)["webhook-signature"]));
    expect(both.sent.headers["x-service-signature"]).to.equal(byOne(replaced)["X-Service-Signature"]);
    expect(both.data?.secretFingerprints).to.deep.equal([replaced, former].map(secretFingerprint));
    expect(both.data?.secretFingerprint).to.equal(secretFingerprint(replaced));
    expect(both.told).to.include("echo ***").and.not.include(former.slice(6));

    await account.owner.post(`${path}/expire`, {});
    expect((await signatures()).signed).to.have.length(1);
    await account.owner.post(path, { gracePeriodSeconds: 1 });
    const expired = async () => (await account.owner.get(`/api/v1/tenants/${account.tenantId}/history`)) as {
      items: { type: string; actor: { type: string } }[];
    };
    const { items } = await eventually(expired, ({ items }) => items.at(-1)?.actor.type === "service");
    expect(items.at(-1)?.type).to.equal("WebhookSecretsExpired");
    const last = await signatures();
    expect([last.signed.length, last.data]).to.deep.equal([1, last.data]);
    expect(last.data).to.not.have.property("secretFingerprints");
  });
});
