import { expect } from "chai";
import { liveErasure } from "../../../../../src/main/operator/operations.ts";
import { createService, createTenant, createUser, openIngest, password } from "../../../../support/accounts.ts";
import { http } from "../../../../support/http.ts";
import { ManualRelay, never } from "../../../../support/manual-relay.ts";
import { until } from "../../../../support/staged-worker.ts";

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
});
