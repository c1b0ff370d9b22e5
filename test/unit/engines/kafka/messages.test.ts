import { expect } from "chai";
import fc from "fast-check";
import { decodeItem, encodeItem, wakeUpFor } from "../../../../src/engines/kafka/messages.ts";
import type { WorkItem } from "../../../../src/kernel/ports/work-queue.ts";
import { firstAttempt } from "../../../support/work-recorder.ts";

const text = fc.string({ unit: "binary" });
const said = fc.string({ minLength: 1 });
const anyItem: fc.Arbitrary<WorkItem> = fc.oneof(
  fc.record({ kind: fc.constant("wake" as const), destinationId: text, position: text }),
  fc.record({
    kind: fc.constant("first" as const), destinationId: text, tenantId: text, eventId: text, payload: text,
    idempotencyKey: fc.option(text), acceptedAt: text, causationId: text, correlationId: text, position: text,
    revision: fc.maxSafeNat(),
  }),
  fc.record({ eventType: said, ownerId: said, test: fc.constant(true as const) }, { requiredKeys: [] })
    .map((classified) => firstAttempt("a", classified)),
);

describe("messages of the work queue", () => {
  it("hold all fields of an item", () => {
    fc.assert(fc.property(anyItem, (each) => {
      expect(decodeItem(encodeItem(each))).to.deep.equal(each);
    }));
  });

  it("of any content are decoded or not, without an error thrown", () => {
    fc.assert(fc.property(fc.uint8Array(), (bytes) => {
      expect(decodeItem(Buffer.from(bytes))).to.equal(undefined);
    }));
    fc.assert(fc.property(fc.json(), (json) => {
      expect(decodeItem(Buffer.from(json))).to.equal(undefined);
    }));
  });

  it("of an item without one of its fields, or with a field of another type, are not decoded", () => {
    const whole: Record<string, unknown> = { v: 1, ...firstAttempt("a") };
    expect(decodeItem(Buffer.from(JSON.stringify(whole)))).to.not.equal(undefined);
    for (const field of Object.keys(whole)) {
      const { [field]: _, ...lacking } = whole;
      expect(decodeItem(Buffer.from(JSON.stringify(lacking))), field).to.equal(undefined);
      const odd = JSON.stringify({ ...whole, [field]: { toString: 1 } });
      expect(decodeItem(Buffer.from(odd)), field).to.equal(undefined);
    }
    const before = JSON.stringify({ ...whole, revision: -2 });
    expect(decodeItem(Buffer.from(before)), "a revision before the first").to.equal(undefined);
    const wrong = { eventType: ["", 1, null], ownerId: ["", 1, null], test: [false, 1, null] };
    for (const [field, values] of Object.entries(wrong)) {
      for (const value of values) {
        const odd = JSON.stringify({ ...whole, [field]: value });
        expect(decodeItem(Buffer.from(odd)), `${field} ${String(value)}`).to.equal(undefined);
      }
    }
  });

  it("wake the destination of an item that is too large, once the index has reached the item's position", () => {
    const item = firstAttempt("a", { position: "7" });
    const { destinationId, position } = item;
    expect(wakeUpFor(item)).to.deep.equal({ kind: "wake", destinationId, position });
  });
});
