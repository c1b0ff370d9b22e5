import { expect } from "chai";
import { Refusal } from "../../src/kernel/domain/refusal.ts";
import type { Passwords } from "../../src/kernel/ports/passwords.ts";

const owner = "tenant:one";

/** The contract of every implementation of the passwords port; `make` gives one of low cost. */
export function passwordsContract(make: () => Passwords & { close(): Promise<void> }): void {
  describe("passwords", () => {
    let passwords: ReturnType<typeof make>;
    before(() => { passwords = make(); });
    after(() => passwords.close());

    it("matches a password, and no other text", async () => {
      const hash = await passwords.hash("correct horse", owner);
      expect(hash).to.not.include("correct");
      expect(await passwords.matches("correct horse", hash, owner)).to.equal(true);
      for (const other of ["correct horsf", "Correct horse", "correct horse ", "", "correct horse\0"]) {
        expect(await passwords.matches(other, hash, owner), other).to.equal(false);
      }
    });

    it("hashes the same password differently each time", async () => {
      expect(await passwords.hash("correct horse", owner)).to.not.equal(await passwords.hash("correct horse", owner));
    });

    it("does not match by the first 72 bytes, a repetition behind a NUL, or broken Unicode", async () => {
      const longest = "é".repeat(36);
      const hash = await passwords.hash(longest, owner);
      expect(await passwords.matches(longest, hash, owner)).to.equal(true);
      expect(await passwords.matches(`${longest}x`, hash, owner)).to.equal(false);
      for (const [text, other] of [["password\0password", "password"], ["password\ud800", "password\ufffd"]] as const) {
        expect(await passwords.matches(text, await passwords.hash(other, owner), owner)).to.equal(false);
      }
    });

    it("has a hash that no password matches, of the shape and cost of a real one", async () => {
      const real = await passwords.hash("correct horse", owner);
      expect(passwords.nobody).to.have.length(real.length);
      expect(passwords.nobody.slice(0, 7)).to.equal(real.slice(0, 7));
      for (const text of ["", "correct horse", passwords.nobody]) {
        expect(await passwords.matches(text, passwords.nobody, owner), text).to.equal(false);
      }
    });

    it("answers an owner's tasks in order, and refuses tasks beyond the queue's limit", async () => {
      const order: number[] = [];
      const tasks = Array.from({ length: 300 }, (_, index) =>
        passwords.matches("correct horse", passwords.nobody, owner).then(() => { order.push(index); }));
      const outcomes = await Promise.allSettled(tasks);
      expect(order).to.deep.equal(order.toSorted((a, b) => a - b));
      const refused = outcomes.filter((outcome) => outcome.status === "rejected");
      expect(refused.length).to.be.greaterThan(0).and.lessThan(300);
      for (const { reason } of refused) expect(reason).to.be.instanceOf(Refusal).with.property("kind", "unavailable");
      expect(await passwords.matches("x", passwords.nobody, owner)).to.equal(false);
    });

    it("lets owners take turns, even if one of them has many tasks waiting", async () => {
      const order: string[] = [];
      const ask = (asker: string, times: number) => Array.from({ length: times }, () =>
        passwords.matches("correct horse", passwords.nobody, asker).then(() => { order.push(asker); }));
      await Promise.all([...ask("a", 20), ...ask("b", 2), ...ask("c", 1)]);
      expect(order.slice(0, 7).join("")).to.equal("aabcaba");
      expect(order).to.have.length(23);
    });

    it("makes room for others by refusing the newest task of the owner with most waiting", async () => {
      const ask = (asker: string, times: number) => Array.from({ length: times }, () =>
        passwords.matches("correct horse", passwords.nobody, asker).then(() => "answered", (error: unknown) => {
          expect(error).to.be.instanceOf(Refusal).with.property("kind", "unavailable");
          return "refused";
        }));
      const answered = (outcomes: readonly string[]) => outcomes.lastIndexOf("answered") + 1;
      const alone = await Promise.all(ask("a", 300));
      const room = answered(alone);
      expect(alone.indexOf("refused")).to.equal(room);
      const [a, b, c, d] = await Promise.all([
        Promise.all(ask("a", 300)), Promise.all(ask("b", 2)), Promise.all(ask("c", 1)), Promise.all(ask("d", 300)),
      ]);
      expect([b, c]).to.deep.equal([["answered", "answered"], ["answered"]]);
      // Two owners that flood the queue get the same share, apart from the task under way.
      expect(answered(a)).to.be.within(answered(d), answered(d) + 2);
      expect(answered(a) + answered(d) + 3).to.equal(room);
      expect([a.indexOf("refused"), d.indexOf("refused")]).to.deep.equal([answered(a), answered(d)]);
      // An owner's only task is never removed.
      const many = await Promise.all(Array.from({ length: 300 }, (_, index) => ask(`owner ${index}`, 1)).flat());
      expect([answered(many), many.indexOf("refused")]).to.deep.equal([room, room]);
    });
  });
}
