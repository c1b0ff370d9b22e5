import streams from "@eventstore/db-client/generated/streams_pb.js";
import { expect } from "chai";
import { setImmediate as turn } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { AppendCalls } from "../../../src/adapters/eventstoredb/append-calls.ts";
import type { Connection } from "../../../src/adapters/eventstoredb/connection.ts";
import { defaultTuning } from "../../../src/adapters/eventstoredb/tuning.ts";
import { LogUnavailable } from "../../../src/ports/event-store.ts";
import { failureOf, until } from "../../contract/event-store/harness.ts";
import { ManualClock } from "../../support/manual-clock.ts";

describe("appends while EventStoreDB is away", () => {
  let clock: ManualClock;
  let tries: number;
  let calls: AppendCalls;
  beforeEach(() => {
    clock = new ManualClock();
    tries = 0;
    const connection = {
      streams: async () => {
        tries += 1;
        throw new Error("no member of the cluster answers");
      },
    } as unknown as Connection;
    calls = new AppendCalls(connection, clock, defaultTuning, () => undefined);
  });

  it("try for a call at growing intervals, however many they are", async () => {
    const appending: Promise<unknown>[] = [];
    for (let ms = 0; ms < 5_000; ms += 10) {
      appending.push(failureOf(calls.send(`append ${ms}`, new streams.BatchAppendReq(), 1_000)));
      await turn();
      clock.advance(10);
    }
    // At 0, 50, 150, 350, 750, 1550 and 3150 ms.
    expect(tries).to.equal(7);
    calls.close();
    for (const failure of await Promise.all(appending)) expect(failure).to.be.instanceOf(LogUnavailable);
  });

  it("are let go of once they are given up", async () => {
    const kept: WeakRef<object>[] = [];
    const sent = Array.from({ length: 10 }, (_, at) => {
      const request = new streams.BatchAppendReq();
      kept.push(new WeakRef(request));
      // An error holds, with its stack, what was at work when it was made.
      return failureOf(calls.send(`append ${at}`, request, 1_000)).then(() => undefined);
    });
    const waiting = failureOf(calls.send("another", new streams.BatchAppendReq(), 5_000));
    await turn();
    clock.advance(1_000);
    await Promise.all(sent);
    await until("nothing holds the requests", () => {
      collectGarbage();
      return kept.every((request) => request.deref() === undefined);
    });
    calls.close();
    await waiting;
  });
});

function collectGarbage(): void {
  setFlagsFromString("--expose-gc");
  (runInNewContext("gc") as () => void)();
}
