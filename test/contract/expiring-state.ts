import { expect } from "chai";
import fc from "fast-check";
import type { ExpiringState, RateLimitSlot } from "../../src/kernel/ports/expiring-state.ts";
import { sized } from "../support/size.ts";

/** Expiring state on storage of its own, empty at first. */
export interface ExpiringStateUnderTest {
  readonly state: ExpiringState;
  /** Advances the test's clock, which stands still otherwise. */
  pass(ms: number): Promise<void>;
  /** Ends this handle; the same storage opens again. */
  reopen(): Promise<ExpiringStateUnderTest>;
  /** Another handle on the same storage, as another process has. */
  another(): Promise<ExpiringState>;
  close(): Promise<void>;
}

const seconds = (n: number) => n * 1_000;

/** Callers at once: a slow engine must answer all of them within its time limit of two seconds. */
const callers = 30;

/** The contract of every adapter of ExpiringState. */
export function expiringStateContract(name: string, open: () => Promise<ExpiringStateUnderTest>): void {
  describe(`${name} as expiring state`, () => {
    let tested: ExpiringStateUnderTest;
    let state: ExpiringState;

    beforeEach(async () => {
      tested = await open();
      state = tested.state;
    });

    afterEach(() => tested.close());

    describe("values", () => {
      it("are read in the order asked for, null for missing ones", async () => {
        await state.put("a", "1", null);
        await state.put("b", "", seconds(100));
        expect(await state.get(["b", "none", "a", "b"])).to.deep.equal(["", null, "1", ""]);
        expect(await state.get([])).to.deep.equal([]);
      });

      it("are replaced together with their expiry", async () => {
        await state.put("a", "1", seconds(1));
        await state.put("a", "2", null);
        await state.put("b", "1", null);
        await state.put("b", "2", seconds(1));
        await tested.pass(seconds(2));
        expect(await state.get(["a", "b"])).to.deep.equal(["2", null]);
      });

      it("expire at their end, not before", async () => {
        await state.put("short", "1", seconds(2));
        await state.put("long", "1", seconds(200));
        await state.put("ever", "1", null);
        await tested.pass(seconds(2) - 1);
        expect(await state.get(["short"])).to.deep.equal(["1"]);
        await tested.pass(1);
        expect(await state.get(["short", "long", "ever"])).to.deep.equal([null, "1", "1"]);
      });

      it("are kept when the storage is opened again, and seen by another process", async () => {
        await state.put("a", "1", seconds(1000));
        expect(await (await tested.another()).get(["a"])).to.deep.equal(["1"]);
        tested = await tested.reopen();
        expect(await tested.state.get(["a"])).to.deep.equal(["1"]);
      });
    });

    describe("rate-limit slots", () => {
      const limit = { max: 3, windowMs: seconds(100) };

      it("are given up to the limit, each with an id of its own", async () => {
        const tickets = [];
        for (let attempt = 0; attempt < 3; attempt += 1) tickets.push(await state.admit(["a"], limit));
        expect(new Set(tickets.map((slot) => slot?.id)).size).to.equal(3);
        expect(await state.admit(["a"], limit)).to.equal(null);
        expect(await state.admit(["b"], limit)).to.not.equal(null);
      });

      it("are exactly as many as the limit under parallel callers of two processes", async () => {
        const other = await tested.another();
        const attempts = Array.from({ length: callers }, (_, n) =>
          (n % 2 ? state : other).admit(["a", `own-${n}`], { ...limit, max: 10 }),
        );
        const admitted = (await Promise.all(attempts)).filter((slot) => slot !== null);
        expect(admitted).to.have.length(10);
      });

      it("count under all their keys or under none", async () => {
        for (let attempt = 0; attempt < 3; attempt += 1) await state.admit(["full"], limit);
        for (let attempt = 0; attempt < 5; attempt += 1) {
          expect(await state.admit(["free", "full"], limit)).to.equal(null);
        }
        for (let attempt = 0; attempt < 3; attempt += 1) expect(await state.admit(["free"], limit)).to.not.equal(null);
        expect(await state.admit(["free"], limit)).to.equal(null);
      });

      it("can be taken back once, and only by their own id", async () => {
        const tickets: (RateLimitSlot | null)[] = [];
        for (let attempt = 0; attempt < 3; attempt += 1) tickets.push(await state.admit(["a", "b"], limit));
        await state.forgive(tickets[1]!);
        await state.forgive(tickets[1]!);
        await state.forgive({ id: tickets[1]!.id + "x", keys: ["a", "b"] });
        expect(await state.admit(["a"], limit)).to.not.equal(null);
        expect(await state.admit(["a"], limit)).to.equal(null);
        expect(await state.admit(["b"], limit)).to.not.equal(null);
        expect(await state.admit(["b"], limit)).to.equal(null);
      });

      it("without a key can be taken back", async () => {
        const slot = await state.admit([], limit);
        await state.forgive(slot!);
      });

      it("are refused without being counted", async () => {
        const short = { max: 1, windowMs: seconds(4) };
        await state.admit(["a"], short);
        await tested.pass(seconds(2));
        expect(await state.admit(["a"], short)).to.equal(null);
        await tested.pass(seconds(3));
        expect(await state.admit(["a"], short)).to.not.equal(null);
      });

      it("are all free again at the end of their window", async () => {
        const many = { max: 40, windowMs: seconds(10) };
        const fill = async () => {
          const tickets = [];
          for (let attempt = 0; attempt < 41; attempt += 1) tickets.push(await state.admit(["a"], many));
          return tickets.filter((slot) => slot !== null).length;
        };
        for (let n = 0; n < 40; n += 1) await state.admit([`0-${n}`], many);
        expect(await fill()).to.equal(40);
        await tested.pass(seconds(10));
        expect(await fill()).to.equal(40);
      });

      it("are kept when the storage is opened again", async () => {
        for (let attempt = 0; attempt < 3; attempt += 1) await state.admit(["a"], limit);
        tested = await tested.reopen();
        expect(await tested.state.admit(["a"], limit)).to.equal(null);
      });

      it("never number more than the limit within any window, and as many as that allows", async () => {
        let run = 0;
        await fc.assert(
          fc.asyncProperty(
            fc.array(fc.nat(40), { maxLength: 60 }),
            fc.integer({ min: 1, max: 4 }),
            fc.integer({ min: 1, max: 60 }),
            async (gaps, max, windowMs) => {
              run += 1;
              let now = 0;
              const admitted: number[] = [];
              for (const gap of gaps) {
                await tested.pass(gap);
                now += gap;
                const within = admitted.filter((at) => at > now - windowMs).length;
                const slot = await state.admit([`run-${run}`], { max, windowMs });
                expect(slot !== null, `at ${now}`).to.equal(within < max);
                if (slot) admitted.push(now);
              }
            },
          ),
          { numRuns: sized(30, 100) },
        );
      });
    });

    describe("leases", () => {
      it("belong to one owner, and can be renewed by it", async () => {
        expect(await state.lease("role", "one", seconds(100))).to.equal(true);
        expect(await state.lease("role", "two", seconds(100))).to.equal(false);
        expect(await state.lease("role", "one", seconds(100))).to.equal(true);
        expect(await state.lease("other", "two", seconds(100))).to.equal(true);
      });

      it("pass to another owner once their time since the last renewal is over", async () => {
        await state.lease("role", "one", seconds(4));
        await tested.pass(seconds(2));
        await state.lease("role", "one", seconds(4));
        await tested.pass(seconds(3));
        expect(await state.lease("role", "two", seconds(100))).to.equal(false);
        await tested.pass(seconds(2));
        expect(await state.lease("role", "two", seconds(100))).to.equal(true);
        expect(await state.lease("role", "one", seconds(100))).to.equal(false);
      });

      it("expire although many values expire at the same time", async () => {
        for (let n = 0; n < 40; n += 1) await state.put(`key-${n}`, "value", seconds(1));
        await state.lease("role", "one", seconds(2));
        await tested.pass(seconds(3));
        expect(await state.lease("role", "two", seconds(100))).to.equal(true);
      });

      it("have one winner among parallel owners of two processes", async () => {
        const other = await tested.another();
        const owners = Array.from({ length: 40 }, (_, n) => `owner-${n}`);
        const claims = owners.map((owner, n) => (n % 2 ? state : other).lease("role", owner, seconds(1000)));
        expect((await Promise.all(claims)).filter(Boolean)).to.have.length(1);
      });

      it("can be given back by their owner only", async () => {
        await state.lease("role", "one", seconds(1000));
        await state.release("role", "two");
        expect(await state.lease("role", "two", seconds(1000))).to.equal(false);
        await state.release("role", "one");
        expect(await state.lease("role", "two", seconds(1000))).to.equal(true);
        await state.release("nothing", "one");
      });

      it("are independent of values of the same name", async () => {
        await state.put("role", "one", null);
        expect(await state.lease("role", "two", seconds(1000))).to.equal(true);
        expect(await state.get(["role"])).to.deep.equal(["one"]);
      });
    });

    describe("tallies", () => {
      const limits = { most: 3, ttlMs: seconds(100) };
      const one = { list: "a", id: "1", count: 1, firstAt: 1_000, lastAt: 1_000, value: "first" };

      it("are summed up, span the times, and have the value of the latest addition", async () => {
        await state.tally([one], limits);
        await state.tally([{ ...one, count: 4, firstAt: 500, lastAt: 2_000, value: "$second" }], limits);
        await state.tally([], limits);
        expect(await state.tallies("a")).to.deep.equal([
          { list: "a", id: "1", count: 5, firstAt: 500, lastAt: 2_000, value: "$second" },
        ]);
        await state.tally([{ ...one, firstAt: 700, lastAt: 900, value: "" }], limits);
        expect(await state.tallies("a")).to.deep.equal([
          { list: "a", id: "1", count: 6, firstAt: 500, lastAt: 2_000, value: "" },
        ]);
      });

      it("come newest first, each list for itself", async () => {
        const others = [{ ...one, id: "2", lastAt: 3_000 }, { ...one, id: "3" }, { ...one, list: "a/1", id: "4" }];
        await state.tally([one, ...others], limits);
        expect((await state.tallies("a")).map(({ id }) => id)).to.deep.equal(["2", "3", "1"]);
        expect(await state.tallies("a/1")).to.deep.equal([others[2]]);
        expect(await state.tallies("b")).to.deep.equal([]);
      });

      it("are exact under parallel additions of two processes", async () => {
        const other = await tested.another();
        await Promise.all(Array.from({ length: callers }, (_, n) =>
          (n % 2 ? state : other).tally([{ ...one, count: n }, { ...one, id: "2" }], limits)));
        const sum = (callers * (callers - 1)) / 2;
        expect((await other.tallies("a")).map(({ count }) => count)).to.deep.equal([callers, sum]);
      });

      it("keep the newest of a list up to the limit, and all of another list", async () => {
        await state.tally([{ ...one, list: "b" }], limits);
        for (const n of [5, 1, 4, 2, 3]) await state.tally([{ ...one, id: `${n}`, lastAt: n }], limits);
        expect((await state.tallies("a")).map(({ id }) => id)).to.deep.equal(["5", "4", "3"]);
        await state.tally([6, 7, 8, 9].map((n) => ({ ...one, id: `${n}`, lastAt: n })), limits);
        expect((await state.tallies("a")).map(({ id }) => id)).to.deep.equal(["9", "8", "7"]);
        expect(await state.tallies("b")).to.have.length(1);
      });

      it("expire after their last addition", async () => {
        await state.tally([one, { ...one, id: "2" }], limits);
        await tested.pass(seconds(60));
        await state.tally([one], limits);
        await tested.pass(seconds(60));
        expect((await state.tallies("a")).map(({ id }) => id)).to.deep.equal(["1"]);
        await tested.pass(seconds(40));
        expect(await state.tallies("a")).to.deep.equal([]);
      });

      it("are kept when the storage is opened again, until their list is dropped", async () => {
        await state.tally([one, { ...one, list: "b" }], limits);
        tested = await tested.reopen();
        expect(await tested.state.tallies("a")).to.deep.equal([one]);
        await tested.state.dropTallies("a");
        expect(await tested.state.tallies("a")).to.deep.equal([]);
        expect(await tested.state.tallies("b")).to.deep.equal([{ ...one, list: "b" }]);
      });
    });
  });
}
