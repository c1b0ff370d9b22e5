import { randomUUID } from "node:crypto";
import { expect } from "chai";
import { Workers } from "../../../../src/delivery/dispatch/workers.ts";
import { ExpiringStateUnavailable } from "../../../../src/kernel/ports/expiring-state.ts";
import { ManualClock } from "../../../support/manual-clock.ts";

const deliveryTimeoutMs = 15_000;

describe("attempts that workers hold", () => {
  let clock: ManualClock;
  let values: Map<string, { readonly value: string; readonly end: number }>;
  let puts: number;
  let isStateAway: boolean;
  const state = {
    get: async (keys: readonly string[]) => {
      if (isStateAway) throw new ExpiringStateUnavailable("away");
      return keys.map((key) => {
        const entry = values.get(key);
        return entry && entry.end > clock.monotonic() ? entry.value : null;
      });
    },
    put: async (key: string, value: string, ttlMs: number | null) => {
      if (isStateAway) throw new ExpiringStateUnavailable("away");
      puts += 1;
      values.set(key, { value, end: clock.monotonic() + (ttlMs ?? Infinity) });
    },
  };
  const process = (isLogShared = true) =>
    new Workers({ ids: { uuid: randomUUID }, clock, state, deliveryTimeoutMs, isLogShared });
  const pass = async (ms: number) => {
    for (let left = ms; left > 0; left -= 500) {
      clock.advance(500);
      await new Promise(setImmediate);
    }
  };
  beforeEach(() => {
    clock = new ManualClock();
    values = new Map();
    [puts, isStateAway] = [0, false];
  });

  it("are known in their own process from first to last, and to it alone while they are young", async () => {
    const [own, other] = [process(), process()];
    const worker = own.begin();
    const attempts = [{ worker, eventId: "a" }, { worker, eventId: "b" }];
    const release = own.hold(worker, "a");
    expect(await own.held(attempts)).to.deep.equal([attempts[0]]);
    await pass(deliveryTimeoutMs - 1_000);
    expect([await other.held(attempts), puts]).to.deep.equal([[], 0]);
    release();
    expect(await own.held(attempts)).to.deep.equal([]);
    await pass(10_000);
    expect([puts, clock.pending]).to.deep.equal([0, []]);
  });

  it("are known to other processes before their leases are over, for as long as they are held", async () => {
    const [own, other] = [process(), process()];
    const worker = own.begin();
    const attempts = ["a", "b", "c"].map((eventId) => ({ worker, eventId }));
    const release = own.hold(worker, "a");
    own.hold(worker, "b");
    await pass(deliveryTimeoutMs + 2_000);
    for (let minute = 0; minute < 3; minute += 1) {
      expect(await other.held(attempts)).to.deep.equal(attempts.slice(0, 2));
      await pass(60_000);
    }
    release();
    await pass(1_000);
    expect(await other.held(attempts)).to.deep.equal(attempts.slice(1, 2));
  });

  it("with a timeout of their destination are known once it is over, in any order", async () => {
    const [own, other] = [process(), process()];
    const worker = own.begin();
    const attempts = ["a", "b", "c"].map((eventId) => ({ worker, eventId }));
    own.hold(worker, "a", 60_000);
    own.hold(worker, "b", null);
    own.hold(worker, "c", 1_000);
    const held = async () => (await other.held(attempts)).map(({ eventId }) => eventId);
    await pass(2_000);
    expect(await held()).to.deep.equal(["c"]);
    await pass(deliveryTimeoutMs);
    expect(await held()).to.deep.equal(["b", "c"]);
    await pass(60_000);
    expect(await held()).to.deep.equal(["a", "b", "c"]);
  });

  it("are lost six seconds after their process has died", async () => {
    const own = process();
    const worker = own.begin();
    own.hold(worker, "a");
    await pass(deliveryTimeoutMs + 2_000);
    const after = new ManualClock();
    after.advance(clock.monotonic() - after.monotonic());
    clock = after;
    await pass(6_000);
    expect(await process().held([{ worker, eventId: "a" }])).to.deep.equal([]);
  });

  it("are not judged while the expiring state is away, and known again once it is back", async () => {
    const [own, other] = [process(), process()];
    const worker = own.begin();
    const attempts = [{ worker, eventId: "a" }];
    own.hold(worker, "a");
    isStateAway = true;
    await pass(60_000);
    expect(await other.held(attempts).catch((error: unknown) => error)).to.be.instanceOf(ExpiringStateUnavailable);
    isStateAway = false;
    await pass(1_000);
    expect(await other.held(attempts)).to.deep.equal(attempts);
  });

  it("need no marks where no other process can use the log", async () => {
    const own = process(false);
    const worker = own.begin();
    own.hold(worker, "a");
    await pass(60_000);
    expect(puts).to.equal(0);
    expect([own.isGone(worker), own.isGone("another")]).to.deep.equal([false, true]);
    expect(await own.held([{ worker: "another", eventId: "a" }])).to.deep.equal([]);
  });
});
