import { expect } from "chai";
import { SqliteExpiringState } from "../../../../src/adapters/embedded-expiring-state/sqlite-expiring-state.ts";
import { SystemIds } from "../../../../src/adapters/system/system-ids.ts";
import { Sessions } from "../../../../src/application/accounts/sessions.ts";
import { Refusal } from "../../../../src/domain/refusal.ts";
import { timestamp } from "../../../../src/domain/time.ts";
import { ManualClock } from "../../../support/manual-clock.ts";

const ids = new SystemIds();
const [tenantId, userId] = [ids.uuid(), ids.uuid()];

/** Expiring state whose first write arrives when it is told to. */
class SlowState extends SqliteExpiringState {
  readonly #first = Promise.withResolvers<void>();
  #puts = 0;

  arrive(): void {
    this.#first.resolve();
  }

  override async put(key: string, value: string, ttlMs: number | null): Promise<void> {
    this.#puts += 1;
    if (this.#puts === 1) await this.#first.promise;
    await super.put(key, value, ttlMs);
  }
}

describe("sessions", () => {
  it("stay over when an older end of some is written after a newer one of all", async () => {
    const clock = new ManualClock();
    const state = new SlowState(":memory:", clock);
    const user = (sessionVersion: number) => ({ status: "Active", role: "Admin", sessionVersion });
    const users = new Map([[userId, user(1)]]);
    // This process has not heard yet that the user was deleted.
    const remembered = { state: { users: new Map(users) } };
    const claims = {
      userId, tenantId, role: "Admin", sessionVersion: 1, tokenId: ids.uuid(), expiresAt: timestamp(clock.now() + 1),
    };
    const parts = {
      clock, state,
      aggregates: { current: async () => ({ state: { users } }), read: async () => remembered },
      tokens: { verify: async () => claims },
      keys: { get: async () => ({}) },
    };
    const sessions = new Sessions(parts as unknown as ConstructorParameters<typeof Sessions>[0], { ttlMs: 60_000 });
    expect((await sessions.authenticate("a token")).userId).to.equal(userId);
    const passwordChanged = sessions.endOlder(tenantId, userId);
    await new Promise(setImmediate);
    users.delete(userId);
    await sessions.endOlder(tenantId, userId);
    state.arrive();
    await passwordChanged;
    const refusal = await sessions.authenticate("a token").catch((error: unknown) => error);
    expect(refusal).to.be.instanceOf(Refusal).with.property("message", "the session is over");
    await state.close();
  });
});
