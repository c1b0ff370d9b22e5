import { expect } from "chai";
import { MemoryBudget, smallBytes, type Claim } from "../../../../src/http/memory/memory-budget.ts";
import { Refusal } from "../../../../src/kernel/domain/refusal.ts";
import { ManualClock } from "../../../support/manual-clock.ts";

const large = 2 * smallBytes;
/** Room for eight large claims. */
const total = 8 * large;
const turn = () => new Promise((resolve) => setImmediate(resolve));

describe("a memory budget", () => {
  let clock: ManualClock;
  let budget: MemoryBudget;
  beforeEach(() => {
    clock = new ManualClock();
    budget = new MemoryBudget(clock, total);
  });

  /** Takes all claims of that size that an owner gets at once. */
  const fill = (owner: string, bytes = large): Claim[] => {
    const claims: Claim[] = [];
    for (let claim = budget.take(owner, bytes); claim; claim = budget.take(owner, bytes)) claims.push(claim);
    return claims;
  };
  /** A waiting claim, with its outcome so far. */
  const claimed = (
    owner: string, { bytes = large, kept = 0, over }: { bytes?: number; kept?: number; over?: AbortSignal } = {},
  ) => {
    const state: { outcome: "waits" | "granted" | "refused"; claim?: Claim; error?: unknown } = { outcome: "waits" };
    budget.claim(owner, bytes, kept, over).then(
      (claim) => Object.assign(state, { outcome: "granted", claim }),
      (error: unknown) => Object.assign(state, { outcome: "refused", error }),
    );
    return state;
  };

  it("forgets a claim whose wait is ended, with the bytes that it kept", async () => {
    fill("a");
    const over = new AbortController();
    const kept = total / 2;
    const [ended, second] = [claimed("a", { kept, over: over.signal }), claimed("a", { kept })];
    await turn();
    expect([ended.outcome, second.outcome]).to.deep.equal(["waits", "refused"]);
    over.abort();
    await turn();
    expect(ended.outcome).to.equal("refused");
    const third = claimed("a", { kept });
    await turn();
    expect(third.outcome).to.equal("waits");
    const late = claimed("a", { over: over.signal });
    await turn();
    expect(late.outcome).to.equal("refused");
  });

  describe("gives", () => {
    it("one owner a half, the next half of the rest, and so on", () => {
      expect([fill("a").length, fill("b").length, fill("c").length]).to.deep.equal([4, 2, 1]);
    });

    it("all memory again once it is released, and counts a claim released twice once", () => {
      for (const claim of fill("a")) {
        claim.release();
        claim.release();
      }
      expect(fill("a")).to.have.length(4);
      expect(fill("b")).to.have.length(2);
    });

    it("memory to small claims where large ones have taken all, of the same owner too", () => {
      for (const owner of ["a", "b", "c", "d"]) fill(owner);
      expect(budget.take("e", large)).to.equal(undefined);
      expect(budget.take("a", smallBytes)).not.to.equal(undefined);
      expect(budget.take("e", smallBytes)).not.to.equal(undefined);
    });

    it("small claims at most a reserve as large as the budget, shared as fairly", () => {
      const ofFirst = fill("a", smallBytes).length * smallBytes;
      expect(ofFirst).to.be.within(total * 0.9, total);
      let all = ofFirst;
      for (let owner = 0; owner < 1_000; owner += 1) all += fill(`${owner}`, smallBytes).length * smallBytes;
      expect(all).to.be.at.most(2 * total);
    });

    it("claims larger than an owner's share to one owner at a time", async () => {
      const claim = budget.take("a", 100 * total);
      const next = claimed("a", { bytes: 100 * total });
      await turn();
      expect(next.outcome).to.equal("waits");
      claim?.release();
      await turn();
      expect(next.outcome).to.equal("granted");
    });
  });

  describe("lets claims wait", () => {
    it("until others of their owner are released, in their order", async () => {
      const [first, second] = fill("a");
      const waiting = [claimed("a"), claimed("a")];
      first?.release();
      expect(budget.take("a", large)).to.equal(undefined);
      await turn();
      expect(waiting.map(({ outcome }) => outcome)).to.deep.equal(["granted", "waits"]);
      second?.release();
      await turn();
      expect(waiting.map(({ outcome }) => outcome)).to.deep.equal(["granted", "granted"]);
    });

    it("without delay for other owners", () => {
      fill("a");
      claimed("a");
      expect(budget.take("b", large)).not.to.equal(undefined);
    });

    it("for 5 s, then refuses them", async () => {
      const claims = fill("a");
      const waiting = claimed("a", { kept: total / 2 });
      clock.advance(4_999);
      await turn();
      expect(waiting.outcome).to.equal("waits");
      clock.advance(1);
      await turn();
      expect(waiting).to.include({ outcome: "refused" });
      expect(waiting.error).to.be.instanceOf(Refusal).with.property("kind", "unavailable");
      for (const claim of claims) claim.release();
      expect(fill("a")).to.have.length(4);
      // The memory that the refused claim kept is free again.
      expect(claimed("a", { kept: total / 2 }).outcome).to.equal("waits");
      await turn();
    });

    it("while they keep up to half the budget, then refuses the newest of the owner that keeps most", async () => {
      for (const owner of ["a", "b"]) fill(owner);
      const kept = total / 8;
      const ofFirst = [claimed("a", { kept }), claimed("a", { kept }), claimed("a", { kept })];
      const ofSecond = [claimed("b", { kept })];
      await turn();
      ofSecond.push(claimed("b", { kept }));
      await turn();
      expect(ofFirst.map(({ outcome }) => outcome)).to.deep.equal(["waits", "waits", "refused"]);
      ofFirst.push(claimed("a", { kept }));
      await turn();
      expect([...ofFirst, ...ofSecond].map(({ outcome }) => outcome))
        .to.deep.equal(["waits", "waits", "refused", "refused", "waits", "waits"]);
    });

    it("so that a small one does not wait behind a large one of its owner", async () => {
      const small = fill("a", smallBytes);
      const waiting = [claimed("a"), claimed("a", { bytes: smallBytes })];
      small[0]?.release();
      await turn();
      expect(waiting.map(({ outcome }) => outcome)).to.deep.equal(["waits", "granted"]);
    });
  });
});
