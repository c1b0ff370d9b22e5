import { expect } from "chai";
import fc from "fast-check";
import { Unsealable, type Sealing, type SealingKey } from "../../src/kernel/ports/sealing.ts";
import { masterKeyIdOf } from "../../src/kernel/sealing/facts.ts";

const key: SealingKey = Uint8Array.from({ length: 32 }, (_, index) => index);
const otherKey: SealingKey = new Uint8Array(32).fill(9);
const place = "0193a1b2-0000-7000-8000-000000000001/webhookSecret";

/** The contract of every implementation of the sealing port. `make` uses the same master key each time. */
export function sealingContract(make: () => Sealing): void {
  describe("S8 sealing", () => {
    it("opens its own sealed values, for any text and place", () => {
      const sealing = make();
      const text = fc.string({ unit: "binary" });
      fc.assert(fc.property(text, text, (clear, anyPlace) => {
        expect(make().open(sealing.seal(clear, key, anyPlace), key, anyPlace)).to.equal(clear);
      }));
    });

    it("unwraps its own wrapped keys", () => {
      expect(make().unwrap(make().wrap(key, place), place)).to.deep.equal(key);
    });

    it("unwraps a key into no more memory than it needs, since many are kept", () => {
      const unwrapped = make().unwrap(make().wrap(key, place), place);
      expect(unwrapped.buffer.byteLength).to.equal(key.length);
    });

    it("names the master key that wrapped a key", () => {
      expect(masterKeyIdOf(make().wrap(key, place))).to.equal(make().masterKeyIds[0]);
    });

    it("never seals or wraps the same thing to the same text, nor shows it", () => {
      const sealing = make();
      const sealed = Array.from({ length: 100 }, () => sealing.seal("s3cret-text", key, place));
      expect(new Set(sealed)).to.have.length(100);
      for (const text of sealed) {
        expect(Buffer.from(text.slice(3), "base64url").toString("latin1")).to.not.include("s3cret-text");
      }
      expect(sealing.wrap(key, place)).to.not.equal(sealing.wrap(key, place));
    });

    it("opens nothing at another place, under another key, or as another kind", () => {
      const sealing = make();
      const sealed = sealing.seal("clear", key, place);
      const wrapped = sealing.wrap(key, place);
      const attempts = [
        () => sealing.open(sealed, key, `${place}/x`),
        () => sealing.open(sealed, key, place.replace("1/", "2/")),
        () => sealing.open(sealed, otherKey, place),
        () => sealing.open(wrapped, key, place),
        () => sealing.unwrap(wrapped, `${place}/x`),
        () => sealing.unwrap(sealed, place),
      ];
      for (const attempt of attempts) expect(attempt).to.throw(Unsealable);
    });

    it("detects the change of any one character, a cut and an addition", () => {
      const sealing = make();
      const kinds = [
        { text: sealing.seal("clear", key, place), open: (text: string) => sealing.open(text, key, place) },
        { text: sealing.wrap(key, place), open: (text: string) => sealing.unwrap(text, place) },
      ];
      for (const { text, open } of kinds) {
        for (let at = 0; at < text.length; at++) {
          for (const other of ["A", "B", "_", "=", " ", "."]) {
            const changed = text.slice(0, at) + other + text.slice(at + 1);
            if (changed !== text) expect(() => open(changed), changed).to.throw(Unsealable);
          }
          expect(() => open(text.slice(0, at))).to.throw(Unsealable);
        }
        for (const added of ["=", "A", "\n", " "]) expect(() => open(text + added)).to.throw(Unsealable);
      }
    });

    it("reveals nothing of the text when opening fails", () => {
      const sealed = make().seal("s3cret-text", key, place);
      const attempt = () => make().open(sealed, otherKey, place);
      expect(attempt).to.throw(Unsealable).with.property("message").that.does.not.include("s3cret");
    });
  });
}
