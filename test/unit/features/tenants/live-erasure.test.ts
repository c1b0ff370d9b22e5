import { isDeepStrictEqual } from "node:util";
import { expect } from "chai";
import { liveErasure } from "../../../../src/main/operator/operations.ts";
import {
  createService, createTenant, createUser, freshEmail, openIngest, password, roleCodes, type Client,
} from "../../../support/accounts.ts";
import { http } from "../../../support/http.ts";
import { ManualRelay, never } from "../../../support/manual-relay.ts";
import { until } from "../../../support/staged-worker.ts";

const accessTokenTtlMs = 3_600_000;

describe("erasing a tenant while relays run", () => {
  let relay: ManualRelay;
  beforeEach(async () => {
    relay = await ManualRelay.open();
  });
  afterEach(async () => {
    expect(relay.api.errors).to.deep.equal([]);
    await relay.close();
  });

  const erase = (tenantId: string) => liveErasure({ ...relay.api.world, accessTokenTtlMs }).erase(tenantId);
  const login = async (email: string) =>
    (await http("POST", `${relay.api.url}/api/v1/auth/login`, { json: { email, password } })).status;

  it("lets nobody in once it has begun, however long it takes", async () => {
    const { owner, tenantId } = await createTenant(relay.api.url);
    const viewer = await createUser(owner.client, "viewer");
    const machine = await createService(owner.client, "admin");
    const { inviteToken } = await owner.client.api.createInvite({ email: "invited@example.com", role: 10 });
    const target = await openIngest(owner.client, tenantId);
    const other = await createTenant(relay.api.url);
    // No worker runs, so that nobody cancels the event: the erasure waits for that.
    const event = await relay.accept(target);
    let isOver = false;
    const erasing = erase(tenantId).finally(() => (isOver = true));
    const place = `/api/v1/destinations/${target.destinationId}`;
    await until(async () => isOver || (await relay.models.get("destinations", target.destinationId)) === null);
    const refused = async () => ({
      logins: [await login(owner.email), await login(viewer.email)],
      sessions: [(await owner.client.get(place)).status, (await viewer.client.get(place)).status],
      key: (await machine.client.get(place)).status,
      invite: (await http("POST", `${relay.api.url}/api/v1/invites/${inviteToken}/register`, { json: { password } }))
        .status,
    });
    const nobody = { logins: [401, 401], sessions: [401, 401], key: 401, invite: 409 };
    expect(await refused()).to.deep.equal(nobody);
    // Longer than a session lasts.
    relay.clock.advance(accessTokenTtlMs + 61_000);
    expect(await refused()).to.deep.equal(nobody);
    expect(isOver).to.equal(false);
    await relay.deliveries.fail(event, 1);
    await until(async () => {
      await relay.purger.step(never);
      return isOver;
    });
    expect(await erasing).to.be.greaterThan(0);
    expect(await login(owner.email)).to.equal(401);
    expect(await login(other.owner.email)).to.equal(200);
  });

  it("leaves nothing of the tenant in any collection or counter", async () => {
    await createTenant(relay.api.url);
    const contents = async () => {
      await relay.drained();
      const { documents: { moments: _, ...documents }, counters } = relay.models.contents();
      return { documents, counters };
    };
    const before = await contents();
    const { owner, tenantId } = await createTenant(relay.api.url);
    const waiting = await furnish(relay, owner.client, tenantId);
    const furnished = await contents();
    const untouched = Object.keys(furnished.documents).filter((name) =>
      isDeepStrictEqual(furnished.documents[name], before.documents[name]));
    // Late ends, replays and certificates have tests of their own; others have documents while something is under way.
    expect(untouched.sort()).to.deep.equal([
      "certificateEnds", "erasures", "forgetting", "lateFinishes", "leases", "ordered", "purges", "purging",
      "quarantine", "replayedEvents",
    ]);
    // As the worker does, which does not run here.
    for (const event of waiting) await relay.deliveries.fail(event, 1);
    let isOver = false;
    const erasing = erase(tenantId).finally(() => (isOver = true));
    await until(async () => {
      await relay.purger.step(never);
      return isOver;
    });
    await erasing;
    expect(await contents()).to.deep.equal(before);
  });
});

/** Gives a tenant something in every collection that facts fill. Resolves to the events that wait. */
async function furnish(relay: ManualRelay, client: Client, tenantId: string): Promise<string[]> {
  const { api } = client;
  const deleted = await createUser(client, "viewer");
  await api.deleteUser({ id: deleted.id });
  const invite = { email: freshEmail(), role: roleCodes.viewer };
  const { inviteToken } = await api.createInvite(invite);
  await http("POST", `${relay.api.url}/api/v1/invites/${inviteToken}/register`, { json: { password } });
  const { id: revoked } = await api.createInvite({ ...invite, email: freshEmail() });
  await api.revokeInvite({ id: revoked });
  await api.createInvite({ ...invite, email: freshEmail() });
  await createService(client, "admin");
  await api.createPortalLink({ ownerId: "customer", may: ["read"] });
  await api.createView({ name: "Given up", page: "events", query: "Status=CriticalFailure", shared: true });
  await api.updateTenant({ id: tenantId }, { retentionDays: 30 });
  await api.regenerateWebhookSecret({ id: tenantId }, { gracePeriodSeconds: 3_600 });
  const target = await openIngest(client, tenantId);
  const to = { destinationUrlId: target.destinationId };
  await api.createNotificationSubscription({ ...to, types: ["event.exhausted"] });
  const { id: senderId, ingestToken } = await api.createSender({ name: "Shop", ...to });
  const fanOut = await api.createSender({ name: "Billing", fanOut: true });
  await api.createSubscription({ ...to, senderId: fanOut.id, ownerId: "customer" });
  const message = await http("POST", `${relay.api.url}/api/v1/ingest/${tenantId}/${fanOut.ingestToken}`, {
    json: {}, headers: { "x-api-key": target.apiKey, "x-owner-id": "customer" },
  });
  await api.cancelEvent({ id: String(message.json["eventId"]) });
  const path = `/api/v1/ingest/${tenantId}/${ingestToken}`;
  const headers = { "x-event-type": "order.paid", "x-owner-id": "customer", "x-tags": "order=1" };
  await relay.deliveries.succeed(await relay.accept({ ...target, path }, headers));
  const waiting = await relay.accept(target);
  await relay.deliveries.fail(waiting, 9, 0);
  const { id: test } = await api.testDestination({ id: target.destinationId }, {});
  await api.orderReplay({ status: "Succeeded" });
  await api.replaceSigningSecret({ id: target.destinationId }, { gracePeriodSeconds: 3_600 });
  await api.replaceSigningKey({ id: target.destinationId });
  await api.regenerateDestinationToken({ id: target.destinationId });
  await api.regenerateSenderToken({ id: senderId });
  return [waiting, test];
}
