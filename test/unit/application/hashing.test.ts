import { expect } from "chai";
import fc from "fast-check";
import { idempotentKey } from "../../../src/application/hashing.ts";
import { eventIdOf } from "../../../src/domain/event/event-id.ts";

describe("the key of an event with an idempotency key", () => {
  const tenant = fc.uuid();

  it("makes a UUID of version 8 with any time", () => {
    fc.assert(fc.property(tenant, fc.string(), fc.nat(), (tenantId, text, ms) => {
      const id = eventIdOf(ms, idempotentKey(tenantId, text));
      expect(id).to.match(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    }));
  });

  it("is the same for the same only", () => {
    fc.assert(fc.property(tenant, tenant, fc.string(), fc.string(), (one, other, text, another) => {
      const key = idempotentKey(one, text);
      expect(idempotentKey(one, text)).to.equal(key);
      expect(idempotentKey(other, text) === key, "of another tenant").to.equal(other === one);
      expect(idempotentKey(one, another) === key, "of another text").to.equal(another === text);
    }));
  });

  it("does not change from release to release", () => {
    const key = idempotentKey("0193a1b2-c3d4-7000-8000-000000000001", "order 7");
    expect(key).to.equal("8ad8-a606-c3f492665042");
  });
});
