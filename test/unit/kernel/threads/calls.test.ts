import { MessageChannel, type MessagePort } from "node:worker_threads";
import { expect } from "chai";
import { remote, serve, type MethodsOf, type Remote } from "../../../../src/kernel/threads/calls.ts";

class Gone extends Error {
  constructor(message: string) {
    super(message);
    this.name = "Gone";
  }
}

/** The most calls that may be under way. */
const most = 10_000;

interface Things {
  add(one: number, other?: number): Promise<number>;
  /** Returns the value once the test says so. */
  later(value: number): Promise<number>;
  fail(name: string): Promise<void>;
}

// @ts-expect-error A method that is not listed.
void ({ add: true, later: true } satisfies MethodsOf<Things>);

class Served implements Things {
  readonly open: (() => void)[] = [];
  readonly #zero = 0;

  async add(one: number, other = this.#zero): Promise<number> {
    return one + other;
  }

  later(value: number): Promise<number> {
    return new Promise((resolve) => this.open.push(() => resolve(value)));
  }

  async fail(name: string): Promise<void> {
    throw name === "Gone" ? new Gone("disk full") : new TypeError("no such field");
  }
}

describe("a port in another thread", () => {
  let port1: MessagePort;
  let served: Served;
  let things: Remote<Things>;

  beforeEach(() => {
    const channel = new MessageChannel();
    port1 = channel.port1;
    served = new Served();
    serve<Things>(port1, served);
    things = remote<Things>(channel.port2, { add: true, later: true, fail: true }, (message) => new Gone(message));
  });

  afterEach(() => things.close());

  async function failure(call: Promise<unknown>): Promise<Error> {
    return call.then(
      () => expect.fail("the call succeeded"),
      (error: unknown) => error as Error,
    );
  }
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  const begun = async (calls: number) => {
    while (served.open.length < calls) await turn();
  };

  it("answers each call with its own result, in any order of their ends", async () => {
    const [first, second] = [things.later(1), things.later(2)];
    expect(await Promise.all([things.add(3, 4), things.add(3)])).to.deep.equal([7, 3]);
    for (const end of served.open.toReversed()) end();
    expect(await Promise.all([first, second])).to.deep.equal([1, 2]);
  });

  it("receives the calls of one turn together, and begins them in one turn", async () => {
    let turns = 0;
    let messages = 0;
    port1.on("message", () => {
      messages += 1;
    });
    const begunIn: number[] = [];
    served.later = async () => begunIn.push(turns);
    const turn = () => {
      turns += 1;
      counting = setImmediate(turn);
    };
    let counting = setImmediate(turn);
    await Promise.all([things.later(1), things.later(2), things.later(3)]);
    clearImmediate(counting);
    expect(messages).to.equal(1);
    expect(new Set(begunIn).size).to.equal(1);
    expect(begunIn).to.have.length(3);
  });

  it("passes on the other end's errors by name, and fails as unavailable only by that name", async () => {
    const wrong = await failure(things.fail("TypeError"));
    expect(wrong).to.include({ name: "TypeError", message: "no such field" }).and.not.be.instanceOf(Gone);
    expect(await failure(things.fail("Gone")))
      .to.be.instanceOf(Gone)
      .with.property("message", "disk full");
  });

  it("refuses at once more calls than may be under way, until one has ended", async () => {
    const calls = Array.from({ length: most }, (_, at) => things.later(at));
    expect((await failure(things.later(0))).message).to.equal("overloaded");
    await begun(most);
    served.open[0]!();
    await calls[0];
    const next = things.later(0);
    await begun(most + 1);
    served.open.forEach((end) => end());
    await Promise.all([...calls, next]);
  });

  it("fails calls when the other end is gone, those under way and those to come", async () => {
    const waiting = failure(things.later(1));
    await begun(1);
    port1.close();
    expect(await waiting).to.be.instanceOf(Gone);
    expect(await failure(things.later(2))).to.be.instanceOf(Gone);
  });

  it("fails calls when this end is closed", async () => {
    const waiting = failure(things.later(1));
    things.close();
    expect(await waiting).to.be.instanceOf(Gone);
    expect(await failure(things.later(2))).to.be.instanceOf(Gone);
  });
});
