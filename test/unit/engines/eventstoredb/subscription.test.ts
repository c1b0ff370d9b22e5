import { EventEmitter } from "node:events";
import { setImmediate as turn } from "node:timers/promises";
import { expect } from "chai";
import type { Connection } from "../../../../src/engines/eventstoredb/connection.ts";
import { LogSubscription } from "../../../../src/engines/eventstoredb/subscription.ts";
import { defaultTuning } from "../../../../src/engines/eventstoredb/tuning.ts";
import { ManualClock } from "../../../support/manual-clock.ts";

describe("a subscription while EventStoreDB is unavailable", () => {
  it("is tried again at growing intervals, up to two seconds", async () => {
    const clock = new ManualClock();
    const startedAt = clock.monotonic();
    const tries: number[] = [];
    const connection = { streams: () => Promise.reject(new Error("away")) } as unknown as Connection;
    const subscription = new LogSubscription({
      connection, clock, tuning: defaultTuning, onAnomaly: () => tries.push(clock.monotonic() - startedAt),
      entry: () => undefined, newest: () => "", head: async () => "", page: async () => [],
    }, { after: "" }, () => undefined, null);
    for (let ms = 0; ms < 10_000; ms += 50) {
      await turn();
      clock.advance(50);
    }
    await subscription.stop();
    expect(tries).to.deep.equal([0, 50, 150, 350, 750, 1_550, 3_150, 5_150, 7_150, 9_150]);
  });

  it("leaves no call open where it cannot read the log's head", async () => {
    const clock = new ManualClock();
    let [opened, cancelled] = [0, 0];
    const call = Object.assign(new EventEmitter(), { cancel: () => { cancelled += 1; } });
    const read = () => {
      opened += 1;
      return call;
    };
    const connection = { streams: async () => ({}), read } as unknown as Connection;
    const subscription = new LogSubscription({
      connection, clock, tuning: defaultTuning, onAnomaly: () => undefined,
      entry: () => undefined, newest: () => "", head: () => Promise.reject(new Error("away")), page: async () => [],
    }, { after: "" }, () => undefined, null);
    while (opened < 2) {
      await turn();
      clock.advance(50);
    }
    expect(cancelled).to.equal(1);
    await subscription.stop();
  });
});
