import { expect } from "chai";
import { outcomeUnknown, pauseAskedBy, type SendOutcome } from "../../../../src/delivery/requests/outcome.ts";
import { dayMs } from "../../../../src/kernel/domain/time.ts";

const failed = (statusCode: number, retryAfterMs: number | null) =>
  ({ ok: false, answer: { statusCode }, retryAfterMs }) as unknown as SendOutcome;

describe("the pause that an answer asks for", () => {
  it("is that of a 429, a second at least and a day at most", () => {
    const pauses = [[null, 1_000], [0, 1_000], [999, 1_000], [1_001, 1_001], [2 * dayMs, dayMs]] as const;
    for (const [asked, pause] of pauses) {
      expect(pauseAskedBy(failed(429, asked)), String(asked)).to.equal(pause);
    }
  });

  it("is none of any other outcome", () => {
    for (const status of [400, 500, 503]) expect(pauseAskedBy(failed(status, 5_000)), String(status)).to.equal(null);
    expect(pauseAskedBy(outcomeUnknown)).to.equal(null);
  });
});
