import { expect } from "chai";
import type { Ids } from "../../src/kernel/ports/ids.ts";

/** The contract of every source of ids and randomness. */
export function idsContract(make: () => Ids): void {
  describe("ids", () => {
    it("makes unique UUIDv7 in ascending order", () => {
      const ids = make();
      const made = Array.from({ length: 50_000 }, () => ids.uuid());
      for (const id of made.slice(0, 1000)) {
        expect(id).to.match(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
      }
      for (let at = 1; at < made.length; at++) {
        if (!((made[at - 1] ?? "") < (made[at] ?? ""))) expect.fail(`${made[at - 1]} stands before ${made[at]}`);
      }
    });

    it("gives unique salts of 128 bits", () => {
      const ids = make();
      const salts = Array.from({ length: 5_000 }, () => ids.salt());
      for (const salt of salts) {
        const bytes = Buffer.from(salt, "base64url");
        expect([bytes.length, bytes.toString("base64url")], salt).to.deep.equal([16, salt]);
      }
      expect(new Set(salts)).to.have.length(salts.length);
      // Each bit is set in about half of the salts.
      for (let bit = 0; bit < 128; bit += 1) {
        const set = salts.filter((salt) => Buffer.from(salt, "base64url")[bit >> 3]! & (1 << (bit & 7))).length;
        expect(set / salts.length, `bit ${bit}`).to.be.within(0.4, 0.6);
      }
    });

    it("gives the requested number of secret bytes, different each time", () => {
      const ids = make();
      for (const length of [0, 1, 16, 32, 1000]) expect(ids.secretBytes(length)).to.have.length(length);
      const drawn = Array.from({ length: 1000 }, () => Buffer.from(ids.secretBytes(16)).toString("hex"));
      expect(new Set(drawn)).to.have.length(1000);
    });

    it("draws from all of [0, 1)", () => {
      const ids = make();
      const tenths = new Set<number>();
      for (let drawn = 0; drawn < 1000; drawn++) {
        const value = ids.random();
        expect(value).to.be.at.least(0).and.below(1);
        tenths.add(Math.floor(value * 10));
      }
      expect(tenths).to.have.length(10);
    });
  });
}
