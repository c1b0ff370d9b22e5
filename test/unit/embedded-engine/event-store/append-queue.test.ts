import { setImmediate as turn } from "node:timers/promises";
import { expect } from "chai";
import { AppendQueue } from "../../../../packages/embedded-engine/src/event-store/append-queue.ts";
import { defaultTuning, type AppendBatch } from "../../../../packages/embedded-engine/src/event-store/protocol.ts";
import { LogUnavailable, noStream } from "../../../../src/kernel/ports/event-store.ts";
import { note } from "../../../contract/event-store/harness.ts";
import { ManualClock } from "../../../support/manual-clock.ts";

describe("appends on their way to the log", () => {
  let clock: ManualClock;
  let sent: AppendBatch[];
  let queue: AppendQueue;

  beforeEach(() => {
    clock = new ManualClock();
    sent = [];
    queue = new AppendQueue((batch) => sent.push(batch), () => undefined, clock, { ...defaultTuning, timeoutMs: 100 });
  });

  /** Appends in a turn of its own, as a batch of its own. */
  const append = async (stream: string, bytes = 5, mayWait = false) => {
    const encoded = [{ type: "t", metadata: "{}", data: "{}" }];
    const appended = new Promise((resolve, reject) => {
      queue.add(stream, noStream, { entries: [note("x")], mayWait, resolve, reject }, encoded, bytes);
    }).then(() => "written", String);
    await turn();
    return { appended };
  };
  const answer = (batch: number) => queue.settle({ kind: "appended", batch, first: batch, exceptions: [] });
  const streamsSent = () => sent.flatMap(({ streams }) => streams);

  it("time out while the log does not answer: in doubt if they were sent, else as not written", async () => {
    const one = await append("one");
    clock.advance(30);
    const two = await append("two");
    clock.advance(30);
    const three = await append("three");
    expect(streamsSent()).to.deep.equal(["one", "two"]);
    const given: string[] = [];
    void one.appended.then(() => given.push("one"));
    void two.appended.then(() => given.push("two"));
    void three.appended.then(() => given.push("three"));
    for (const [ms, late] of [[39, []], [1, ["one"]], [29, ["one"]], [1, ["one", "two"]]] as const) {
      clock.advance(ms);
      await turn();
      expect(given).to.deep.equal(late);
    }
    clock.advance(30);
    expect(await one.appended).to.equal("LogUnavailable: the log did not answer in time");
    expect(await two.appended).to.equal("LogUnavailable: the log did not answer in time");
    expect(await three.appended)
      .to.equal("LogUnavailable: the log was not written: it did not answer earlier appends in time");
    // The third append has timed out: it is not written once the log answers again.
    answer(1);
    answer(2);
    await turn();
    const four = await append("four");
    expect(streamsSent()).to.deep.equal(["one", "two", "four"]);
    answer(sent.at(-1)!.batch);
    expect(await four.appended).to.equal("written");
    expect(clock.pending).to.deep.equal([]);
  });

  it("fail one by one where the log cannot read their stream", async () => {
    const [one, two] = [append("one"), append("two")];
    const [{ appended: first }, { appended: second }] = await Promise.all([one, two]);
    expect(sent.map(({ streams }) => streams)).to.deep.equal([["one", "two"]]);
    queue.settle({ kind: "appended", batch: 1, first: 1, exceptions: [{ at: 0, failed: "a damaged page" }] });
    expect(await first).to.equal("LogUnavailable: the log was not written: a damaged page");
    expect(await second).to.equal("written");
  });

  it("time out counted from their call, however late they were sent", async () => {
    await append("one");
    await append("two");
    const three = await append("three");
    clock.advance(99);
    answer(1);
    await turn();
    expect(streamsSent()).to.deep.equal(["one", "two", "three"]);
    clock.advance(1);
    expect(await three.appended).to.equal("LogUnavailable: the log did not answer in time");
  });

  it("leave room for others once they have timed out", async () => {
    const most = 32 * 1024 * 1024;
    await append("one", 1);
    await append("two", 1);
    await append("three", most);
    const full = await append("four", most);
    expect(await full.appended).to.equal("LogUnavailable: too many appends are waiting");
    clock.advance(100);
    await append("five", most);
    answer(1);
    answer(2);
    await turn();
    expect(streamsSent()).to.deep.equal(["one", "two", "five"]);
  });

  it("fail all at once when the log is gone, and leave no timer behind", async () => {
    const appends = [await append("one"), await append("two"), await append("three")];
    queue.fail(new LogUnavailable("gone"));
    for (const { appended } of appends) expect(await appended).to.equal("LogUnavailable: gone");
    // The log's last reply was on its way: no append waits for it.
    answer(1);
    await queue.idle();
    expect(clock.pending).to.deep.equal([]);
  });

  describe("that may wait", () => {
    const patient = (stream: string) => append(stream, 5, true);

    it("are sent with the next append that may not wait", async () => {
      const held = await patient("held");
      await patient("held too");
      expect(sent).to.deep.equal([]);
      await append("urgent");
      expect(sent.map(({ streams }) => streams)).to.deep.equal([["held", "held too", "urgent"]]);
      answer(1);
      expect(await held.appended).to.equal("written");
    });

    it("are sent on their own after the hold time, counted from the first of them", async () => {
      await patient("first");
      clock.advance(defaultTuning.holdMs - 1);
      await patient("second");
      expect(sent).to.deep.equal([]);
      clock.advance(1);
      await turn();
      expect(streamsSent()).to.deep.equal(["first", "second"]);
    });

    it("are not sent because a batch under way returns, nor held because one of them was", async () => {
      await append("urgent");
      await patient("held");
      answer(1);
      await turn();
      expect(streamsSent()).to.deep.equal(["urgent"]);
      await append("next");
      expect(streamsSent()).to.deep.equal(["urgent", "held", "next"]);
      // The hold time of the earlier append is over: this append has its own.
      clock.advance(defaultTuning.holdMs);
      await patient("later");
      clock.advance(defaultTuning.holdMs - 1);
      await turn();
      expect(streamsSent()).not.to.include("later");
      clock.advance(1);
      await turn();
      expect(streamsSent()).to.include("later");
    });

    it("are sent at once where they are many, and where the queue is emptied", async () => {
      for (let n = 0; n < 16; n += 1) await patient(`one of many ${n}`);
      expect(streamsSent()).to.have.length(16);
      answer(1);
      await patient("last");
      const idle = queue.idle();
      expect(streamsSent()).to.include("last");
      answer(2);
      await idle;
    });

    it("leave nothing behind if the log failed meanwhile", async () => {
      const held = await patient("held");
      queue.fail(new LogUnavailable("gone"));
      expect(await held.appended).to.equal("LogUnavailable: gone");
      clock.advance(defaultTuning.holdMs);
      await turn();
      expect(sent).to.deep.equal([]);
    });
  });
});
