import { createHmac, randomBytes } from "node:crypto";
import { expect } from "chai";
import fc from "fast-check";
import { eventIdOf } from "../../../../src/kernel/domain/event-id.ts";
import { EventKeys } from "../../../../src/kernel/sealing/event-keys.ts";
import { keyedHasher, unkeyedEventKey } from "../../../../src/kernel/tools/hashing.ts";

const nameHashKey = new Uint8Array(Buffer.from("a key of the platform, 32 bytes."));
const keys = new EventKeys({ nameHashKey, keyedEventIds: true });
const tenant = "0193a1b2-c3d4-7000-8000-000000000001";

describe("a keyed hasher", () => {
  const hmac = (key: Uint8Array, text: string) => createHmac("sha256", key).update(text).digest("hex");

  it("is HMAC-SHA256 of any text, under any key of a block at most", () => {
    const text = fc.oneof(fc.string({ unit: "binary" }), fc.string({ unit: "binary", minLength: 300, maxLength: 999 }));
    fc.assert(fc.property(fc.uint8Array({ maxLength: 64 }), fc.array(text, { maxLength: 5 }), (key, texts) => {
      const hash = keyedHasher(key);
      for (const one of [...texts, ...texts]) expect(hash(one)).to.equal(hmac(key, one));
    }));
  });

  it("tells texts with the same beginning apart, of any length", () => {
    const [key, hash] = [randomBytes(32), keyedHasher(new Uint8Array(32))];
    for (const length of [0, 1, 63, 64, 341, 342, 1_023, 1_024, 1_025, 4_000]) {
      const text = "\u20ac".repeat(length);
      expect(keyedHasher(key)(`${text}x`), `${length}`).to.equal(hmac(key, `${text}x`));
      expect(hash(`${text}x`)).to.not.equal(hash(`${text}y`));
    }
  });
});

describe("the key of an event with an idempotency key", () => {
  it("makes a UUID of version 8 with any time; each of its 74 bits may be 0 or 1", () => {
    const texts = Array.from({ length: 200 }, (_, n) => `order ${n}`);
    const groups = texts.map((text) => keys.of(tenant, text).replaceAll("-", ""));
    fc.assert(fc.property(fc.uuid(), fc.string(), fc.nat(), (tenantId, text, ms) => {
      for (const key of [keys.of(tenantId, text), unkeyedEventKey(tenantId, text)]) {
        expect(eventIdOf(ms, key)).to.match(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
      }
    }));
    let either = 0;
    for (let bit = 0; bit < 80; bit += 1) {
      const values = groups.map((hex) => (BigInt(`0x${hex}`) >> BigInt(bit)) & 1n);
      if (new Set(values).size === 2) either += 1;
    }
    expect(either).to.equal(74);
  });

  it("is the same for the same tenant and text only", () => {
    fc.assert(fc.property(fc.uuid(), fc.uuid(), fc.string(), fc.string(), (one, other, text, another) => {
      for (const named of [(...names: [string, string]) => keys.of(...names), unkeyedEventKey]) {
        const key = named(one, text);
        expect(named(one, text)).to.equal(key);
        expect(named(other, text) === key, "of another tenant").to.equal(other === one);
        expect(named(one, another) === key, "of another text").to.equal(another === text);
      }
    }));
  });

  it("differs under another key of the platform, and without one", () => {
    const another = new EventKeys({ nameHashKey: new Uint8Array(32), keyedEventIds: true });
    const all = [keys.of(tenant, "order 7"), another.of(tenant, "order 7"), unkeyedEventKey(tenant, "order 7")];
    expect(new Set(all)).to.have.length(3);
  });

  it("does not change from release to release", () => {
    expect(unkeyedEventKey(tenant, "order 7")).to.equal("8ad8-a606-c3f492665042");
    expect(keys.of(tenant, "order 7")).to.equal("8ae4-b313-aef7c1880f33");
  });
});
