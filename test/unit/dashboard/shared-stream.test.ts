import { expect } from "chai";
import type { FollowOptions, StreamFrame } from "../../../packages/client/src/index.ts";
import { joinStream, type Connection } from "../../../packages/dashboard/src/live/shared-stream.ts";

/** A tab with its hands on the connection that it has while it leads. */
class Tab {
  readonly frames: string[] = [];
  readonly connections: Connection[] = [];
  /** The options of each connection that this tab opened. */
  readonly opened: FollowOptions[] = [];
  refusals = 0;
  readonly leave: () => void;
  #give: ((frame: StreamFrame | Error) => void) | undefined;

  constructor(name: string) {
    this.leave = joinStream(name, {
      follow: (options) => this.#follow(options),
      onRefused: () => (this.refusals += 1),
      onFrame: ({ event }) => this.frames.push(event),
      onConnection: (connection) => this.connections.push(connection),
      now: () => 1_000 + this.connections.length,
      pause: () => new Promise(setImmediate),
    });
  }

  get connection() {
    return this.opened.at(-1)?.onConnection ?? expect.fail("it does not lead");
  }

  get last() {
    return this.connections.at(-1);
  }

  /** Gives the next frame to the connection, or ends it by an error. */
  give(frame: StreamFrame | Error) {
    this.#give?.(frame);
  }

  async* #follow(options: FollowOptions): AsyncGenerator<StreamFrame, void> {
    this.opened.push(options);
    for (;;) {
      const { promise, resolve, reject } = Promise.withResolvers<StreamFrame | Error>();
      this.#give = resolve;
      options.signal?.addEventListener("abort", () => reject(options.signal?.reason as Error));
      const given = await promise;
      if (given instanceof Error) throw given;
      yield given;
    }
  }
}

const frame = (id: string): StreamFrame => ({ event: "gone", data: { head: id }, id });

describe("the stream that tabs share", () => {
  let tabs: Tab[];
  let name: string;
  let names = 0;
  beforeEach(() => {
    tabs = [];
    name = `stream ${(names += 1)}`;
  });
  afterEach(() => {
    for (const tab of tabs) tab.leave();
  });

  const open = () => {
    const tab = new Tab(name);
    tabs.push(tab);
    return tab;
  };
  const until = async (holds: () => boolean) => {
    while (!holds()) await new Promise(setImmediate);
  };

  it("has one connection, whose frames and state every tab hears, a later tab too", async () => {
    const [first, second] = [open(), open()];
    await until(() => first.opened.length === 1);
    first.connection({ isLive: true });
    await until(() => second.last?.state === "live");
    first.give(frame("5"));
    await until(() => second.frames.length === 1);
    const third = open();
    await until(() => third.last?.state === "live");
    expect([first.frames, second.opened, third.opened]).to.deep.equal([["gone"], [], []]);
  });

  it("says that the connection is lost, and since when it is offline once it could not be made again", async () => {
    const tab = open();
    await until(() => tab.opened.length === 1);
    for (const failures of [0, 1, 2]) tab.connection({ isLive: false, failures });
    tab.connection({ isLive: true });
    tab.connection({ isLive: false, failures: 0 });
    expect(tab.connections).to.deep.equal([
      { state: "reconnecting", since: 1_000 }, { state: "offline", since: 1_000 }, { state: "offline", since: 1_000 },
      { state: "live" }, { state: "reconnecting", since: 1_004 },
    ]);
  });

  it("goes on in the next tab behind the last frame when the tab with the connection is closed", async () => {
    const [first, second] = [open(), open()];
    await until(() => first.opened.length === 1);
    first.give(frame("5"));
    await until(() => second.frames.length === 1);
    first.leave();
    await until(() => second.opened.length === 1);
    expect(second.opened[0]?.headers).to.deep.equal({ "Last-Event-ID": "5" });
  });

  it("asks who is signed in where the session is refused, and goes on while the page stays", async () => {
    const tab = open();
    await until(() => tab.opened.length === 1);
    tab.give(new Error("401"));
    await until(() => tab.opened.length === 2);
    expect([tab.refusals, tab.last?.state]).to.deep.equal([1, "reconnecting"]);
    tab.connection({ isLive: true });
    tab.give(frame("6"));
    await until(() => tab.frames.length === 1);
    expect(tab.last).to.deep.equal({ state: "live" });
  });
});
