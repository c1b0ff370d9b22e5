import { once } from "node:events";
import type { Worker } from "node:worker_threads";
import { expect } from "chai";
import { OccasionalThread } from "../../../../src/kernel/threads/occasional-thread.ts";
import { withoutThreads } from "../../../support/no-threads.ts";
import { eventually } from "../../../support/relay.ts";

const hour = 3_600_000;

describe("a thread for work that comes now and then", () => {
  const script = new URL("./echoing-thread.ts", import.meta.url);
  let thread: OccasionalThread<string, string>;
  let answers: string[];
  let lost: string[];

  function made(restMs: number): void {
    answers = [];
    lost = [];
    thread = new OccasionalThread(script, {}, {
      onAnswer: (answer) => answers.push(answer),
      onLost: (error) => lost.push(error.message),
    }, restMs);
  }
  afterEach(() => thread.end());

  /** The thread that the message starts. */
  async function startedBy(message: string): Promise<Worker> {
    const started = once(process, "worker") as Promise<[Worker]>;
    expect(thread.post(message)).to.equal(true);
    return (await started)[0];
  }

  async function untilAnswered(...expected: readonly string[]): Promise<void> {
    await eventually(async () => answers.length, (count) => count === expected.length);
    expect(answers).to.deep.equal(expected);
  }
  async function untilLost(error: string): Promise<void> {
    await eventually(async () => lost.length, (count) => count > 0);
    expect(lost).to.deep.equal([error]);
  }
  const portsInUse = () => process.getActiveResourcesInfo().filter((name) => name === "MessagePort").length;

  it("is started by a message, and ends at rest, not called lost; a later message starts another", async () => {
    made(0);
    const first = await startedBy("one");
    await untilAnswered("one");
    thread.rest();
    await once(first, "exit");
    expect(await startedBy("two")).not.to.equal(first);
    await untilAnswered("one", "two");
    expect(lost).to.deep.equal([]);
  });

  it("stays for a message that comes in time", async () => {
    made(0);
    const first = await startedBy("one");
    await untilAnswered("one");
    thread.rest();
    thread.post("two");
    await untilAnswered("one", "two");
    expect(first.threadId).to.be.above(0);
  });

  it("lets the process end while it rests, not while it works", async () => {
    made(hour);
    const before = portsInUse();
    await startedBy("one");
    expect(portsInUse()).to.be.above(before);
    await untilAnswered("one");
    thread.rest();
    expect(portsInUse()).to.equal(before);
  });

  it("reports an error, and goes on in another thread", async () => {
    made(hour);
    await startedBy("fail");
    await untilLost("failed");
    await startedBy("one");
    await untilAnswered("one");
  });

  it("reports a thread that ends by itself", async () => {
    made(hour);
    await startedBy("stop");
    await untilLost("the thread ended");
  });

  it("answers all before a last message, and has ended then", async () => {
    made(hour);
    const worker = await startedBy("one");
    thread.post("two");
    await thread.end("stop");
    expect(answers).to.deep.equal(["one", "two"]);
    expect(worker.threadId).to.equal(-1);
  });

  it("accepts no message while the system gives no thread", async () => {
    made(hour);
    expect(await withoutThreads(() => thread.post("one"))).to.equal(false);
    await startedBy("two");
    await untilAnswered("two");
  });
});
