import { EventEmitter } from "node:events";
import { setImmediate as turn } from "node:timers/promises";
import shared from "@eventstore/db-client/generated/shared_pb.js";
import statusPb from "@eventstore/db-client/generated/status_pb.js";
import streams from "@eventstore/db-client/generated/streams_pb.js";
import { expect } from "chai";
import anyPb from "google-protobuf/google/protobuf/any_pb.js";
import { AppendCalls } from "../../../../src/engines/eventstoredb/append-calls.ts";
import type { Connection } from "../../../../src/engines/eventstoredb/connection.ts";
import { defaultTuning } from "../../../../src/engines/eventstoredb/tuning.ts";
import { LogUnavailable } from "../../../../src/kernel/ports/event-store.ts";
import { failureOf, until } from "../../../contract/event-store/harness.ts";
import { collectGarbage } from "../../../support/heap.ts";
import { ManualClock } from "../../../support/manual-clock.ts";

describe("appends while EventStoreDB is unavailable", () => {
  let clock: ManualClock;
  let tries: number;
  let renewed: number;
  let calls: AppendCalls;
  /** The call that carries appends; null while there is none. */
  let call: EventEmitter | null;
  beforeEach(() => {
    clock = new ManualClock();
    tries = 0;
    renewed = 0;
    call = null;
    const connection = {
      streams: async () => {
        tries += 1;
        if (!call) throw new Error("no member of the cluster answers");
        return { batchAppend: () => call };
      },
      callArguments: () => [],
      failed: async () => undefined,
      answered: () => undefined,
      replaceIfSilent: async () => { renewed += 1; },
    } as unknown as Connection;
    calls = new AppendCalls(connection, clock, defaultTuning, () => undefined);
  });

  /** A call that records the correlation ids of the requests sent over it. */
  function taking(sent: string[]): EventEmitter {
    const write = (request: streams.BatchAppendReq) => sent.push(request.getCorrelationId()!.getString()) > 0;
    return Object.assign(new EventEmitter(), { write, cancel: () => undefined });
  }

  const send = (id: string, timeoutMs: number) =>
    calls.send(id, new streams.BatchAppendReq().setCorrelationId(new shared.UUID().setString(id)), timeoutMs);

  const replyTo = (id: string) => new streams.BatchAppendResp().setCorrelationId(new shared.UUID().setString(id));

  const errorTo = (id: string, type: string) => replyTo(id).setError(new statusPb.Status()
    .setMessage("Server Is Not Ready")
    .setDetails(new anyPb.Any().setTypeUrl(`type.googleapis.com/${type}`)));

  const pass = async (ms: number) => {
    await turn();
    clock.advance(ms);
    await turn();
  };

  it("open a call at growing intervals, however many appends wait", async () => {
    const appending: Promise<unknown>[] = [];
    for (let ms = 0; ms < 10_000; ms += 10) {
      appending.push(failureOf(calls.send(`append ${ms}`, new streams.BatchAppendReq(), 1_000)));
      await turn();
      clock.advance(10);
    }
    // At 0, 50, 150, 350, 750, 1550, 3150, 5150, 7150 and 9150 ms.
    expect(tries).to.equal(10);
    calls.close();
    for (const failure of await Promise.all(appending)) expect(failure).to.be.instanceOf(LogUnavailable);
  });

  it("do not fail with an error that is over", async () => {
    const early = send("early", 1_000);
    const late = failureOf(send("late", 1_000));
    await turn();
    call = taking([]);
    clock.advance(defaultTuning.firstPauseMs);
    await turn();
    call.emit("data", replyTo("early"));
    await early;
    clock.advance(1_000);
    expect(String(await late)).to.contain("no answer in time");
    calls.close();
  });

  it("are sent again where the server does not know their outcome, or ends the call", async () => {
    const sent: string[] = [];
    call = taking(sent);
    const appending = send("a", 10_000);
    await turn();
    const unknown = errorTo("a", "event_store.client.Timeout");
    call.emit("data", unknown);
    await pass(defaultTuning.firstPauseMs);
    expect(sent).to.deep.equal(["a", "a"]);
    call.emit("data", unknown);
    call.emit("status", { code: 0 });
    await pass(defaultTuning.firstPauseMs);
    expect(sent).to.deep.equal(["a", "a", "a"]);
    call.emit("data", replyTo("a"));
    await appending;
    calls.close();
  });

  it("are sent again, at growing intervals, to a server that is not ready: it may have written them", async () => {
    const sent: string[] = [];
    call = taking(sent);
    const appending = send("a", 10_000);
    const givenUp = failureOf(send("b", 300));
    await turn();
    const { firstPauseMs } = defaultTuning;
    for (const pauseMs of [firstPauseMs, 2 * firstPauseMs, 4 * firstPauseMs]) {
      const times = sent.length;
      // The server's answer while it starts, is too busy, or knows no leader.
      for (const id of ["a", "b"]) call.emit("data", errorTo(id, "google.protobuf.Empty"));
      await pass(pauseMs - 1);
      expect(sent).to.have.length(times);
      await pass(1);
    }
    expect(String(await givenUp)).to.contain("Server Is Not Ready");
    expect(sent).to.deep.equal(["a", "b", "a", "b", "a", "b", "a"]);
    call.emit("data", replyTo("a"));
    await appending;
    calls.close();
  });

  it("are settled by an error that would come again", async () => {
    call = taking([]);
    const names = ["WrongExpectedVersion", "StreamDeleted", "MaximumAppendSizeExceeded", "BadRequest", "AccessDenied"];
    const settled = names.map((name) => send(name, 1_000));
    await turn();
    for (const name of names) call.emit("data", errorTo(name, `event_store.client.${name}`));
    await Promise.all(settled);
    calls.close();
  });

  it("stay with a call for as long as other appends are answered over it", async () => {
    const sent: string[] = [];
    call = taking(sent);
    const unanswered = failureOf(send("a", 60_000));
    for (let at = 0; at < 5; at += 1) {
      const answered = send(`b${at}`, 60_000);
      await pass(defaultTuning.stallMs - 1);
      call.emit("data", replyTo(`b${at}`));
      await answered;
    }
    expect([renewed, sent.filter((id) => id === "a").length]).to.deep.equal([0, 1]);
    await pass(defaultTuning.stallMs);
    expect(renewed).to.equal(1);
    calls.close();
    await unanswered;
  });

  it("are released from memory once they have timed out", async () => {
    const kept: WeakRef<object>[] = [];
    const sent = Array.from({ length: 10 }, (_, at) => {
      const request = new streams.BatchAppendReq();
      kept.push(new WeakRef(request));
      // The error is dropped: its stack may keep the request in memory.
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
