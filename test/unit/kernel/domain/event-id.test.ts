import { expect } from "chai";
import fc from "fast-check";
import {
  acceptedMsOf, eventIdOf, greatestEventId, keyOfEvent, leastEventId,
} from "../../../../src/kernel/domain/event-id.ts";

describe("ids of events", () => {
  const latest = Date.parse("9999-12-31T23:59:59.999Z");
  const moment = fc.integer({ min: 0, max: latest });

  it("sort by the time of acceptance, then by their keys", () => {
    fc.assert(
      // Two random times are hardly ever equal.
      fc.property(moment, fc.option(moment), fc.uuid(), fc.uuid(), (a, another, one, other) => {
        const b = another ?? a;
        const [first, second] = [eventIdOf(a, keyOfEvent(one)), eventIdOf(b, keyOfEvent(other))];
        expect(keyOfEvent(first)).to.equal(keyOfEvent(one));
        expect(acceptedMsOf(first)).to.equal(a);
        if (a !== b) expect(first < second).to.equal(a < b);
        else expect(first < second).to.equal(keyOfEvent(one) < keyOfEvent(other));
      }),
      { numRuns: 1_000 },
    );
  });

  it("lie between the bounds of their own millisecond only", () => {
    const near = fc.integer({ min: -2, max: 2 });
    fc.assert(
      fc.property(fc.integer({ min: 2, max: latest - 2 }), near, fc.uuid(), (ms, by, key) => {
        const id = eventIdOf(ms, keyOfEvent(key));
        expect(id >= leastEventId(ms + by)).to.equal(by <= 0);
        expect(id <= greatestEventId(ms + by)).to.equal(by >= 0);
      }),
      { numRuns: 1_000 },
    );
    for (const key of ["0000-0000-000000000000", "ffff-ffff-ffffffffffff"]) {
      const id = eventIdOf(7, key);
      expect(leastEventId(7) <= id && id <= greatestEventId(7)).to.equal(true);
    }
  });

  it("have bounds at any time", () => {
    const id = eventIdOf(0, keyOfEvent("00000000-0000-4000-8000-000000000000"));
    for (const before of [Date.parse("0001-01-01T00:00:00.000Z"), -1]) {
      expect(leastEventId(before) <= id).to.equal(true);
      expect(greatestEventId(before) < id).to.equal(true);
    }
    expect(greatestEventId(Number.MAX_SAFE_INTEGER)).to.equal("ffffffff-ffff-ffff-ffff-ffffffffffff");
  });
});
