import { expect } from "chai";
import { RetryPause } from "../../../../src/delivery/dispatch/pauses.ts";
import { refuseUnreadable } from "../../../../src/kernel/log/unreadable.ts";
import { LogThrottle } from "../../../../src/kernel/tools/log-throttle.ts";
import { ManualClock } from "../../../support/manual-clock.ts";
import { quiet } from "../../../support/telemetry.ts";

describe("the retry pauses of dispatchers", () => {
  it("make two log lines when a newer release wrote about many destinations", async () => {
    const clock = new ManualClock();
    const lines: object[] = [];
    const logger = { ...quiet, warn: (fields: object) => void lines.push(fields) };
    const logThrottle = new LogThrottle(clock);
    for (let n = 0; n < 300; n += 1) {
      const guard = new RetryPause(`d${n}`, { clock, logger, logThrottle }, () => undefined);
      await guard.run(async () => refuseUnreadable(`the record circuit-d${n}`, { newer: true }));
      expect(guard.paused).to.equal(true);
    }
    clock.advance(10_000);
    expect(lines).to.have.length(2);
    expect(lines[0]).to.include({ destinationId: "d0" });
    expect(lines[1]).to.deep.equal({ reason: "records wait for a newer release", times: 299 });
  });
});
