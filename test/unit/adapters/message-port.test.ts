import { expect } from "chai";
import { MessageChannel, type MessagePort } from "node:worker_threads";
import { answerCalls, Caller } from "../../../src/adapters/message-port/calls.ts";

class Gone extends Error {
  constructor(message: string) {
    super(message);
    this.name = "Gone";
  }
}

describe("calls through a message port", () => {
  let port1: MessagePort;
  let caller: Caller;

  beforeEach(() => {
    const channel = new MessageChannel();
    port1 = channel.port1;
    caller = new Caller(channel.port2, (message) => new Gone(message), { maxPending: 3 });
  });

  afterEach(() => caller.close());

  async function failure(call: Promise<unknown>): Promise<Error> {
    return call.then(
      () => expect.fail("the call succeeded"),
      (error: unknown) => error as Error,
    );
  }

  it("answer each call with its own result, in whatever order they end", async () => {
    const open: (() => void)[] = [];
    answerCalls(port1, {
      later: (value: number) => new Promise((resolve) => open.push(() => resolve(value))),
      now: async (a: number, b: number) => a + b,
    });
    const [first, second] = [caller.call("later", 1), caller.call("later", 2)];
    expect(await caller.call("now", 3, 4)).to.equal(7);
    for (const end of open.toReversed()) end();
    expect(await Promise.all([first, second])).to.deep.equal([1, 2]);
  });

  it("travel together when made in one turn, and are begun in one turn", async () => {
    let turns = 0;
    let messages = 0;
    port1.on("message", () => {
      messages += 1;
    });
    answerCalls(port1, { turn: async () => turns });
    const counting = setInterval(() => {
      turns += 1;
    }, 0);
    const answers = await Promise.all([caller.call("turn"), caller.call("turn"), caller.call("turn")]);
    clearInterval(counting);
    expect(messages).to.equal(1);
    expect(new Set(answers).size).to.equal(1);
  });

  it("fail as the other end failed, by name, and as unavailable only by that name", async () => {
    answerCalls(port1, {
      wrong: async () => {
        throw new TypeError("no such field");
      },
      gone: async () => {
        throw new Gone("disk full");
      },
    });
    const wrong = await failure(caller.call("wrong"));
    expect(wrong).to.include({ name: "TypeError", message: "no such field" }).and.not.be.instanceOf(Gone);
    expect(await failure(caller.call("gone")))
      .to.be.instanceOf(Gone)
      .with.property("message", "disk full");
  });

  it("fail at once beyond as many as may be under way, until one has ended", async () => {
    const open: (() => void)[] = [];
    answerCalls(port1, { later: () => new Promise<void>((resolve) => open.push(resolve)) });
    const calls = [1, 2, 3].map(() => caller.call("later"));
    expect((await failure(caller.call("later"))).message).to.equal("overloaded");
    while (open.length < 3) await new Promise((resolve) => setImmediate(resolve));
    open.forEach((end) => end());
    await Promise.all(calls);
    const next = caller.call("later");
    while (open.length < 4) await new Promise((resolve) => setImmediate(resolve));
    open.forEach((end) => end());
    await next;
  });

  it("fail when the other end is gone, those under way and those to come", async () => {
    answerCalls(port1, { never: () => new Promise(() => undefined) });
    const waiting = failure(caller.call("never"));
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
    port1.close();
    expect(await waiting).to.be.instanceOf(Gone);
    expect(await failure(caller.call("never"))).to.be.instanceOf(Gone);
  });

  it("fail when this end was closed", async () => {
    answerCalls(port1, { never: () => new Promise(() => undefined) });
    const waiting = failure(caller.call("never"));
    caller.close();
    expect(await waiting).to.be.instanceOf(Gone);
  });
});
