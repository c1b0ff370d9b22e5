import shared from "@eventstore/db-client/generated/shared_pb.js";
import streams from "@eventstore/db-client/generated/streams_pb.js";
import { expect } from "chai";
import { EventEmitter } from "node:events";
import { setImmediate as turn } from "node:timers/promises";
import { AppendCalls } from "../../../../src/adapters/eventstoredb/append-calls.ts";
import type { Connection } from "../../../../src/adapters/eventstoredb/connection.ts";
import { defaultTuning } from "../../../../src/adapters/eventstoredb/tuning.ts";
import { LogUnavailable } from "../../../../src/ports/event-store.ts";
import { failureOf, until } from "../../../contract/event-store/harness.ts";
import { collectGarbage } from "../../../support/heap.ts";
import { ManualClock } from "../../../support/manual-clock.ts";

describe("appends while EventStoreDB is away", () => {
  let clock: ManualClock;
  let tries: number;
  let calls: AppendCalls;
  /** The call over which appends go; there is none while it is null. */
  let call: EventEmitter | null;
  beforeEach(() => {
    clock = new ManualClock();
    tries = 0;
    call = null;
    const connection = {
      streams: async () => {
        tries += 1;
        if (!call) throw new Error("no member of the cluster answers");
        return { batchAppend: () => call };
      },
      callArguments: () => [],
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

  it("are not told of troubles that were over before", async () => {
    const early = calls.send("early", new streams.BatchAppendReq(), 1_000);
    const late = failureOf(calls.send("late", new streams.BatchAppendReq(), 1_000));
    await turn();
    call = Object.assign(new EventEmitter(), { write: () => true, cancel: () => undefined });
    clock.advance(defaultTuning.firstPauseMs);
    await turn();
    call.emit("data", new streams.BatchAppendResp().setCorrelationId(new shared.UUID().setString("early")));
    await early;
    clock.advance(1_000);
    expect(String(await late)).to.contain("no answer in time");
    calls.close();
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
