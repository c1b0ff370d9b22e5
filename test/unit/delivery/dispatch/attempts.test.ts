import { expect } from "chai";
import { Attempts } from "../../../../src/delivery/dispatch/attempts.ts";
import type { Claimed } from "../../../../src/delivery/dispatch/work.ts";
import { timestamp } from "../../../../src/kernel/domain/time.ts";
import { ManualClock } from "../../../support/manual-clock.ts";
import { noPause, success } from "../../../support/outcomes.ts";
import { quiet, uncounted } from "../../../support/telemetry.ts";

describe("attempts", () => {
  it("measure the delay of an event's first attempt only", async () => {
    const clock = new ManualClock();
    const delays: number[] = [];
    const attempts = new Attempts({
      clock, logger: quiet, workerId: "worker",
      metrics: { ...uncounted, firstAttemptDelay: (seconds: number) => void delays.push(seconds) },
      client: { send: async () => success },
      outcomes: { recording: () => ({ finish: async () => ({ status: "Succeeded" }) }) },
    } as unknown as ConstructorParameters<typeof Attempts>[0]);
    const acceptedAt = timestamp(clock.now());
    clock.advance(2_500);
    for (const number of [1, 2]) {
      const claimed = {
        state: { attempts: number, acceptedAt },
        destination: { url: "https://hook.example/" },
        claimedFrom: clock.monotonic(),
      };
      await attempts.carryOut(claimed as unknown as Claimed, noPause);
    }
    expect(delays).to.deep.equal([2.5]);
  });
});
