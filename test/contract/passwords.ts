import { expect } from "chai";
import { Refusal } from "../../src/domain/refusal.ts";
import type { Passwords } from "../../src/ports/passwords.ts";

/** What every implementation of the passwords port keeps; `make` gives one of low cost. */
export function passwordsContract(make: () => Passwords & { close(): Promise<void> }): void {
  describe("passwords", () => {
    let passwords: ReturnType<typeof make>;
    before(() => { passwords = make(); });
    after(() => passwords.close());

    it("knows a password again, and no other text", async () => {
      const hash = await passwords.hash("correct horse");
      expect(hash).to.not.include("correct");
      expect(await passwords.matches("correct horse", hash)).to.equal(true);
      for (const other of ["correct horsf", "Correct horse", "correct horse ", "", "correct horse\0"]) {
        expect(await passwords.matches(other, hash), other).to.equal(false);
      }
    });

    it("hashes the same password differently each time", async () => {
      expect(await passwords.hash("correct horse")).to.not.equal(await passwords.hash("correct horse"));
    });

    it("is not fooled by bytes past 72, a repetition behind a NUL, or broken Unicode", async () => {
      const longest = "é".repeat(36);
      const hash = await passwords.hash(longest);
      expect(await passwords.matches(longest, hash)).to.equal(true);
      expect(await passwords.matches(`${longest}x`, hash)).to.equal(false);
      expect(await passwords.matches("password\0password", await passwords.hash("password"))).to.equal(false);
      expect(await passwords.matches("password\ud800", await passwords.hash("password\ufffd"))).to.equal(false);
    });

    it("has a hash that no password matches, of the shape and cost of a real one", async () => {
      const real = await passwords.hash("correct horse");
      expect(passwords.nobody).to.have.length(real.length);
      expect(passwords.nobody.slice(0, 7)).to.equal(real.slice(0, 7));
      for (const text of ["", "correct horse", passwords.nobody]) {
        expect(await passwords.matches(text, passwords.nobody), text).to.equal(false);
      }
    });

    it("answers in the order asked, and turns away more than can wait", async () => {
      const order: number[] = [];
      const tasks = Array.from({ length: 300 }, (_, index) =>
        passwords.matches("correct horse", passwords.nobody).then(() => { order.push(index); }));
      const outcomes = await Promise.allSettled(tasks);
      expect(order).to.deep.equal(order.toSorted((a, b) => a - b));
      const refused = outcomes.filter((outcome) => outcome.status === "rejected");
      expect(refused.length).to.be.greaterThan(0).and.lessThan(300);
      for (const { reason } of refused) expect(reason).to.be.instanceOf(Refusal).with.property("kind", "unavailable");
      expect(await passwords.matches("x", passwords.nobody)).to.equal(false);
    });
  });
}
