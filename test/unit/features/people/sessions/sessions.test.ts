import { expect } from "chai";
import { SqliteExpiringState } from "../../../../../packages/embedded-engine/src/index.ts";
import { SystemIds } from "../../../../../src/engines/system/system-ids.ts";
import { Sessions } from "../../../../../src/features/people/sessions/sessions.ts";
import { Refusal } from "../../../../../src/kernel/domain/refusal.ts";
import { timestamp } from "../../../../../src/kernel/domain/time.ts";
import type { Origin } from "../../../../../src/kernel/log/origin.ts";
import { InMemoryEventStore } from "../../../../support/in-memory-event-store.ts";
import { ManualClock } from "../../../../support/manual-clock.ts";

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

/** Sessions of one user of version 1, whose token is valid until a recorded end says otherwise. */
function sessionsOf(
  state: SqliteExpiringState, clock: ManualClock, ttlMs = 60_000, passwordAt: string | null = null,
) {
  const users = new Map([[userId, { status: "Active", role: "Admin", sessionVersion: 1 }]]);
  // This process hears of no change.
  const remembered = { state: { users: new Map(users) } };
  const expiresAt = timestamp(clock.now() + ttlMs);
  const tokenId = ids.uuid();
  const sessionId = passwordAt === null ? tokenId : ids.uuid();
  const own = { tokenId, sessionId, sessionVersion: 1, expiresAt, passwordAt };
  const claims = { userId, tenantId, role: "Admin", ...own };
  const parts = {
    clock, state, ids,
    store: new InMemoryEventStore(),
    aggregates: { current: async () => ({ state: { users } }), read: async () => remembered },
    tokens: { verify: async () => claims },
    keys: { get: async () => ({}) },
  };
  const sessions = new Sessions(parts as unknown as ConstructorParameters<typeof Sessions>[0], { ttlMs });
  return { sessions, users, refused: () => sessions.authenticate("a token").catch((error: unknown) => error) };
}

const actor = { type: "user", id: userId, role: "Admin" } as const;
const origin: Origin = { actor, correlationId: "test", causationId: null };

const isOver = (refusal: unknown) =>
  expect(refusal).to.be.instanceOf(Refusal).with.property("message", "the session is over");

describe("sessions", () => {
  it("stay over when an older end of some sessions is written after a newer end of all", async () => {
    const clock = new ManualClock();
    const state = new SlowState(":memory:", clock);
    const { sessions, users, refused } = sessionsOf(state, clock);
    expect((await sessions.authenticate("a token")).userId).to.equal(userId);
    const passwordChanged = sessions.endOlder(tenantId, userId);
    await new Promise(setImmediate);
    users.delete(userId);
    await sessions.endOlder(tenantId, userId);
    state.arrive();
    await passwordChanged;
    isOver(await refused());
    await state.close();
  });

  it("stay over as long as they would have been valid", async () => {
    const clock = new ManualClock();
    const state = new SqliteExpiringState(":memory:", clock);
    const day = 86_400_000;
    const { sessions, refused } = sessionsOf(state, clock, 3 * day);
    await sessions.revoke(await sessions.authenticate("a token"), origin);
    clock.advance(3 * day - 1);
    isOver(await refused());
    await state.close();
  });

  it("of browsers stay over as long as any renewal before the end could have made them last", async () => {
    const clock = new ManualClock();
    const state = new SqliteExpiringState(":memory:", clock);
    const { sessions } = sessionsOf(state, clock, 60_000, timestamp(clock.now()));
    await sessions.revoke(await sessions.authenticateBrowser("a token"), origin);
    clock.advance(30 * 86_400_000 - 1);
    isOver(await sessions.authenticateBrowser("a token of another process").catch((error: unknown) => error));
    await state.close();
  });

  it("are forgotten once none of them could be valid any more", async () => {
    const clock = new ManualClock();
    const state = new SqliteExpiringState(":memory:", clock);
    const keys: string[] = [];
    const put = state.put.bind(state);
    state.put = (key, ...rest) => {
      keys.push(key);
      return put(key, ...rest);
    };
    const { sessions } = sessionsOf(state, clock);
    await sessions.revoke(await sessions.authenticate("a token"), origin);
    await sessions.endOlder(tenantId, userId);
    expect(await state.get(keys)).to.have.length(2).and.not.include(null);
    clock.advance(2 * 86_400_000);
    expect(await state.get(keys)).to.deep.equal([null, null]);
    await state.close();
  });

  it("stay over where the clock goes ahead for hours and is set back", async () => {
    const clock = new ManualClock();
    const state = new SqliteExpiringState(":memory:", clock);
    const { sessions, refused } = sessionsOf(state, clock);
    await sessions.revoke(await sessions.authenticate("a token"), origin);
    const hours = 4 * 3_600_000;
    clock.advance(hours);
    // A write removes expired entries.
    await state.put("another", "", null);
    clock.advance(-hours);
    isOver(await refused());
    await state.close();
  });
});
