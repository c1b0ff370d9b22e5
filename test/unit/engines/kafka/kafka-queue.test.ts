import { setImmediate as turn } from "node:timers/promises";
import { expect } from "chai";
import { Consumption } from "../../../../src/engines/kafka/kafka-queue.ts";
import type { Timer } from "../../../../src/kernel/ports/clock.ts";
import { ManualClock } from "../../../support/manual-clock.ts";
import { quiet } from "../../../support/telemetry.ts";
import { WorkRecorder } from "../../../support/work-recorder.ts";

/** A clock that counts cancelled timers. */
class CountingClock extends ManualClock {
  cancelled = 0;

  override schedule(delayMs: number, task: () => void): Timer {
    const timer = super.schedule(delayMs, task);
    return {
      cancel: () => {
        this.cancelled += 1;
        timer.cancel();
      },
    };
  }
}

describe("the consumption of the topic", () => {
  it("keeps nothing of the tries made while Kafka is unavailable, and stops at once", async () => {
    const clock = new CountingClock();
    let tries = 0;
    const ready = async () => {
      tries += 1;
      throw new Error("no broker answers");
    };
    const connect = () => expect.fail("there is nothing to connect to");
    const consumption = new Consumption({
      connect, topic: "relay.work", groupId: "relay.delivery", clock, logger: quiet,
      metrics: { anomaly: () => undefined },
    }, ready, new WorkRecorder());
    for (let round = 1; round <= 20; round++) {
      await turn();
      expect(tries).to.equal(round);
      clock.advance(500);
    }
    await turn();
    clock.cancelled = 0;
    await consumption.stop();
    expect(clock.cancelled).to.equal(1);
    expect(clock.pending).to.deep.equal([]);
    expect(tries).to.equal(21);
  });
});
