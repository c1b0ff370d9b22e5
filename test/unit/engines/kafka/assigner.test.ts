import { expect } from "chai";
import fc from "fast-check";
import { shareOut, type Claim } from "../../../../src/engines/kafka/assigner.ts";

const partitions = fc.integer({ min: 1, max: 40 }).map((count) => Array.from({ length: count }, (_, id) => id));
const claims = fc.uniqueArray(
  fc.record({ memberId: fc.string({ minLength: 1 }), had: fc.array(fc.integer({ min: -1, max: 45 })) }),
  { selector: ({ memberId }) => memberId, minLength: 1, maxLength: 12 },
);

const sizes = (shares: Map<string, readonly number[]>) => [...shares.values()].map(({ length }) => length);
const moved = (before: Map<string, readonly number[]>, after: Map<string, readonly number[]>) =>
  [...after].flatMap(([member, share]) => share.filter((partition) => !before.get(member)?.includes(partition))).length;
const claimsOf = (shares: Map<string, readonly number[]>): Claim[] =>
  [...shares].map(([memberId, had]) => ({ memberId, had }));

describe("sharing partitions out", () => {
  it("gives each partition to one member, in shares that differ by one at most, for any claims", () => {
    fc.assert(fc.property(partitions, claims, (all, members) => {
      const shares = shareOut(all, members);
      expect([...shares.keys()].sort()).to.deep.equal(members.map(({ memberId }) => memberId).sort());
      expect([...shares.values()].flat().sort((a, b) => a - b)).to.deep.equal(all);
      expect(Math.max(...sizes(shares)) - Math.min(...sizes(shares))).to.be.at.most(1);
    }));
  });

  it("does not depend on the order of the members", () => {
    fc.assert(fc.property(partitions, claims, (all, members) => {
      expect(new Map([...shareOut(all, members)].sort())).to.deep.equal(
        new Map([...shareOut(all, members.toReversed())].sort()),
      );
    }));
  });

  it("moves nothing while the members stay, and only the newcomer's share when one joins", () => {
    fc.assert(fc.property(partitions, claims, (all, members) => {
      const before = shareOut(all, members);
      expect(moved(before, shareOut(all, claimsOf(before)))).to.equal(0);
      const after = shareOut(all, [...claimsOf(before), { memberId: "", had: [] }]);
      expect(moved(before, after)).to.equal(after.get("")?.length);
    }));
  });

  it("moves only the share of a member that leaves", () => {
    fc.assert(fc.property(partitions, claims, (all, members) => {
      const before = shareOut(all, members);
      const [leaver, ...rest] = claimsOf(before);
      fc.pre(rest.length > 0);
      expect(moved(before, shareOut(all, rest))).to.equal(leaver?.had.length);
    }));
  });
});
