import { expect } from "chai";
import fc from "fast-check";
import { nextAttemptAt, type RetryPolicy } from "../../../../src/features/events/decide.ts";
import { millis, timestamp } from "../../../../src/kernel/domain/time.ts";

const now = "2026-01-15T09:30:00.000Z";
const dayMs = 86_400_000;
const standard: RetryPolicy = {
  scheduleMs: [5000, 300_000, 1_800_000, 7_200_000, 18_000_000, 36_000_000, 50_400_000, 72_000_000, dayMs],
  jitter: 0.1,
};
const wait = (policy: RetryPolicy, count: number, random: number, retryAfterMs: number | null = null) =>
  millis(nextAttemptAt(policy, count, now, random, retryAfterMs)) - millis(now);

describe("retry policy", () => {
  it("follows the schedule, and repeats its last wait", () => {
    for (const [index, planned] of standard.scheduleMs.entries())
      expect(wait(standard, index + 1, 0)).to.equal(planned);
    for (const count of [10, 11, 1000]) expect(wait(standard, count, 0)).to.equal(dayMs);
  });

  it("adds a random share of the jitter", () => {
    expect(wait(standard, 1, 0.5)).to.equal(5250);
    expect(wait({ ...standard, jitter: 0 }, 1, 0.999)).to.equal(5000);
    expect(wait({ scheduleMs: [1000], jitter: 1 }, 1, 0.25)).to.equal(1250);
  });

  it("is never earlier than the schedule, and never later than the schedule and the jitter", () => {
    const policy = fc.record({
      scheduleMs: fc.array(fc.integer({ min: 1, max: 365 * dayMs }), { minLength: 1, maxLength: 12 }),
      jitter: fc.oneof(fc.constant(0.1), fc.double({ min: 0, max: 1, noNaN: true })),
    });
    const random = fc.oneof(
      fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
      fc.constantFrom(0, 1 - Number.EPSILON / 2),
    );
    fc.assert(
      fc.property(policy, fc.integer({ min: 1, max: 30 }), random, (anyPolicy, count, chance) => {
        const planned = anyPolicy.scheduleMs[Math.min(count, anyPolicy.scheduleMs.length) - 1] ?? NaN;
        const waited = wait(anyPolicy, count, chance);
        expect(waited).to.be.at.least(planned);
        expect(waited - planned).to.be.at.most(planned * anyPolicy.jitter);
      }),
      { numRuns: 2000 },
    );
  });

  it("follows Retry-After where that is later, for a day at most", () => {
    expect(wait(standard, 1, 0, 120_000)).to.equal(120_000);
    expect(wait(standard, 2, 0, 120_000)).to.equal(300_000);
    expect(wait(standard, 1, 0, 30 * dayMs)).to.equal(dayMs);
    expect(wait(standard, 1, 0, 0)).to.equal(5000);
    expect(wait(standard, 1, 0, -60_000)).to.equal(5000);
    const any = fc.integer({ min: 0, max: 3 * dayMs });
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 12 }),
        any,
        fc.double({ min: 0, max: 0.99, noNaN: true }),
        (count, after, chance) => {
          const planned = wait(standard, count, chance);
          expect(wait(standard, count, chance, after)).to.equal(Math.max(planned, Math.min(after, dayMs)));
        },
      ),
    );
  });

  it("counts from the moment of the failure", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 4_000_000_000_000 }), (ms) => {
        expect(nextAttemptAt(standard, 1, timestamp(ms), 0, null)).to.equal(timestamp(ms + 5000));
      }),
    );
  });
});
