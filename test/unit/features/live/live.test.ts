import { randomUUID } from "node:crypto";
import { setImmediate as turn } from "node:timers/promises";
import { expect } from "chai";
import { SystemIds } from "../../../../src/engines/system/system-ids.ts";
import { Live } from "../../../../src/features/live/live.ts";
import { serveAll } from "../../../../src/features/services.ts";
import { Refusal } from "../../../../src/kernel/domain/refusal.ts";
import { streams } from "../../../../src/kernel/domain/streams.ts";
import { timestamp } from "../../../../src/kernel/domain/time.ts";
import { Aggregates } from "../../../../src/kernel/log/aggregates.ts";
import { noStream } from "../../../../src/kernel/ports/event-store.ts";
import { InMemoryEventStore } from "../../../support/in-memory-event-store.ts";
import { ManualClock } from "../../../support/manual-clock.ts";
import { metadata } from "../../../support/recorded.ts";

type Mutable<Type> = { -readonly [Key in keyof Type]: Type[Key] };

const tenantId = randomUUID();
const destinationId = randomUUID();
const all = { kinds: ["event", "circuit", "audit"], payload: false } as const;
const hourMs = 3_600_000;

/** A client that takes its texts only when it is told to. */
class Reader {
  readonly gone = new AbortController();
  text = "";
  ended = false;
  #texts: AsyncIterator<string, undefined> | undefined;
  #waits = false;
  #takes = false;

  attach(texts: AsyncIterable<string, undefined>): void {
    this.#texts = texts[Symbol.asyncIterator]();
  }

  /** Takes the texts that are there. */
  async take(): Promise<string> {
    this.#takes = true;
    this.#ask();
    for (let turns = 0; turns < 20; turns += 1) await turn();
    this.#takes = false;
    return this.text;
  }

  #ask(): void {
    if (this.#waits || !this.#takes || this.ended) return;
    this.#waits = true;
    void this.#texts?.next().then(({ value, done }) => {
      this.#waits = false;
      this.text += value ?? "";
      this.ended ||= done === true;
      this.#ask();
    });
  }

  get frames() {
    const blocks = this.text.split("\n\n").filter((block) => block.startsWith("event: "));
    return blocks.map((block) => {
      const [, event = "", data = "null", id] = /^event: (\w+)\ndata: (.*?)(?:\nid: (.*))?$/.exec(block) ?? [];
      return { event, data: JSON.parse(data) as Record<string, unknown>, id };
    });
  }
}

describe("live clients of the log", () => {
  let clock: ManualClock;
  let store: InMemoryEventStore;
  /** The log as the live clients have it. */
  let log: Mutable<ConstructorParameters<typeof Live>[0]["store"]>;
  let live: Live;
  let subscriptions: number;
  let reads: number;

  beforeEach(() => {
    clock = new ManualClock();
    store = new InMemoryEventStore();
    subscriptions = reads = 0;
    log = {
      head: () => store.head(),
      isPosition: (text) => store.isPosition(text),
      readLog: (after, limit) => {
        reads += 1;
        return store.readLog(after, limit);
      },
      readStream: (...asked) => store.readStream(...asked),
      subscribe: (options, handle) => {
        subscriptions += 1;
        const subscription = store.subscribe(options, handle);
        const stop = () => {
          subscriptions -= 1;
          return subscription.stop();
        };
        return { stop };
      },
    };
    const aggregates = new Aggregates(store, { clock, ids: new SystemIds() }, { max: 10 });
    serveAll(aggregates);
    live = new Live({ store: log, aggregates, clock, isShown: async () => true });
  });
  afterEach(() => live.stop());

  /** Appends facts of as many events. */
  async function happen(count = 1, of = tenantId): Promise<void> {
    for (let made = 0; made < count; made += 1) {
      const eventId = randomUUID();
      const at = timestamp(clock.now());
      const moved = { eventId, tenantId: of, destinationId, acceptedAt: at, from: "Pending", to: "Cancelled", at };
      const event = { type: "EventCancelled", data: { ...moved, reason: "requested" } };
      await store.append(streams.event(eventId), noStream, [{ id: randomUUID(), event, metadata }]);
    }
    for (let turns = 0; turns < 5; turns += 1) await turn();
  }

  async function follow(
    { of = tenantId, userId = randomUUID(), lastId, check = async () => undefined }: {
      readonly of?: string; readonly userId?: string; readonly lastId?: string; readonly check?: () => Promise<unknown>;
    } = {},
    wanted: Parameters<Live["open"]>[1] = all,
  ): Promise<Reader> {
    const reader = new Reader();
    const expiresAt = timestamp(clock.now() + hourMs);
    const { signal: gone } = reader.gone;
    const caller = { tenantId: of, id: userId, credentialIds: [randomUUID()], expiresAt, check, gone };
    reader.attach(await live.open(caller, wanted, lastId));
    return reader;
  }
  const pass = async (ms: number, ...readers: readonly Reader[]) => {
    clock.advance(ms);
    for (const reader of readers) await reader.take();
  };
  /** Lets a client that resumes read on to the present. */
  const resumed = async (reader: Reader, steps = 20) => {
    for (let step = 0; step < steps; step += 1) await pass(50, reader);
  };
  const refusalOf = (opening: Promise<unknown>) => opening.then(() => "opened", (error: unknown) =>
    error instanceof Refusal ? error.kind : String(error));

  it("share one subscription, which there is only while there are clients", async () => {
    expect(subscriptions).to.equal(0);
    const readers = [await follow(), await follow(), await follow({ of: randomUUID() })];
    expect(subscriptions).to.equal(1);
    for (const { gone } of readers) gone.abort();
    await turn();
    expect([subscriptions, clock.pending]).to.deep.equal([0, []]);
    const again = await follow();
    await happen();
    await pass(50, again);
    expect([subscriptions, again.frames.length]).to.deep.equal([1, 1]);
  });

  it("get a comment every 15 seconds, with the place from which to resume", async () => {
    const reader = await follow();
    await happen(1, randomUUID());
    const [first] = (await reader.take()).split("\n\n");
    expect(first).to.match(/^:\nid: |^:$/);
    for (const comments of [2, 3, 4]) {
      await pass(15_000, reader);
      await pass(500, reader);
      expect(reader.text.match(/^:$/gm)).to.have.length(comments);
    }
    expect(reader.text).to.match(new RegExp(`:\nid: ${await store.head()}\n\n$`));
  });

  it("lose frames beyond 200 a second, and are told how many, up to when and where", async () => {
    const reader = await follow();
    await happen(260);
    await pass(100, reader);
    expect(reader.frames).to.have.length(200);
    await pass(1_000, reader);
    const [lagged] = reader.frames.slice(200);
    expect(lagged).to.deep.include({ event: "lagged", id: await store.head() });
    expect(lagged?.data).to.deep.include({ dropped: 60 });
    expect(lagged?.data["until"]).to.equal(metadata.at);
    await happen();
    await pass(50, reader);
    expect(reader.frames.at(-1)?.event).to.equal("moved");
    expect(reader.frames).to.have.length(202);
  });

  it("are closed with 1 MiB that they did not take, and resume behind the last frame that they took", async () => {
    const reader = await follow();
    await happen();
    await pass(50, reader);
    const [taken] = reader.frames;
    for (let second = 0; second < 40; second += 1) {
      await happen(199);
      clock.advance(1_000);
    }
    await reader.take();
    const last = reader.frames.at(-1);
    expect([reader.ended, last?.event, last?.id]).to.deep.equal([true, "lagged", undefined]);
    expect(last?.data["dropped"]).to.be.above(2_000);
    expect(reader.text.length).to.be.below(100_000);
    const lastTaken = reader.frames.at(-2)?.id ?? taken?.id ?? "";
    const again = await follow({ lastId: lastTaken });
    await resumed(again, 300);
    expect(again.frames.length).to.equal(1 + 199 * 40 - reader.frames.length + 1);
  });

  it("resume behind their last frame without a gap and without a double, while more happens", async () => {
    await happen(3);
    const from = await store.head();
    await happen(700);
    await happen(20, randomUUID());
    const reader = await follow({ lastId: from });
    for (let step = 0; step < 30; step += 1) {
      await pass(10, reader);
      await happen(7);
    }
    await resumed(reader);
    const ids = reader.frames.map(({ id }) => id);
    expect(new Set(ids)).to.have.length(700 + 210);
    expect(ids).to.deep.equal([...ids].sort());
    expect(ids).to.have.length(700 + 210);
  });

  it("that resume share reads, and take turns with other tenants", async () => {
    await happen();
    const from = await store.head();
    await happen(2_000);
    const before = reads;
    const others = randomUUID();
    const readers = await Promise.all(Array.from({ length: 50 }, (_, at) =>
      follow({ lastId: from, of: at < 49 ? tenantId : others })));
    const isDone = () => readers.slice(0, 49).every(({ frames }) => frames.length === 2_000);
    for (let step = 0; step < 1_000 && !isDone(); step += 1) await pass(10, ...readers);
    for (const reader of readers.slice(0, 49)) expect(reader.frames).to.have.length(2_000);
    expect(readers.at(-1)?.frames).to.deep.equal([]);
    expect(reads - before).to.be.below(100);
  });

  it("go on from the present where their last frame is over 100,000 entries back, or is not in the log", async () => {
    await happen();
    const from = await store.head();
    const foreign = { position: from, stream: "x-1", revision: 0, id: "x", unreadable: "x", type: "x", newer: false };
    const { readLog } = log;
    // A log of so many entries, of which the test need not write each.
    let given = 0;
    log.readLog = async (after, limit) => {
      if (given > 100_000) return readLog(after, limit);
      given += limit;
      const entries = Array.from({ length: limit }, (_, at) => ({ ...foreign, position: `${after}+${1_000 + at}` }));
      return { entries, upTo: entries.at(-1)?.position ?? after };
    };
    await happen();
    for (const lastId of [from, "0000000000999999"]) {
      const reader = await follow({ lastId });
      for (let step = 0; step < 500; step += 1) await pass(10, reader);
      const head = await store.head();
      expect(reader.frames[0]).to.deep.equal({ event: "gone", data: { head }, id: head });
      await happen();
      await pass(50, reader);
      expect(reader.frames.map(({ event }) => event)).to.deep.equal(["gone", "moved"]);
    }
  });

  const displaced = [{ event: "end", data: { reason: "displaced" }, id: undefined }];

  it("are 5 of a caller: a sixth takes the place of the oldest", async () => {
    const userId = randomUUID();
    const own: Reader[] = [];
    for (let count = 0; count < 6; count += 1) own.push(await follow({ userId }));
    for (const [at, reader] of own.entries()) {
      await reader.take();
      expect([reader.ended, reader.frames], `${at}`).to.deep.equal(at === 0 ? [true, displaced] : [false, []]);
    }
  });

  it("are 1,000 in a process: one more takes the oldest place of the tenant that has most", async () => {
    const large = await follow({ of: "large" });
    for (let count = 1; count < 100; count += 1) await follow({ of: "large" });
    for (let count = 0; count < 900; count += 1) await follow({ of: `tenant ${count % 10}` });
    const newer = [await follow(), await follow()];
    await large.take();
    expect([large.ended, large.frames]).to.deep.equal([true, displaced]);
    for (const reader of newer) await reader.take();
    expect(newer.map(({ ended }) => ended)).to.deep.equal([false, false]);
  });

  it("are 100 of a tenant: one more is refused, unless its caller has five of them", async () => {
    for (let count = 0; count < 100; count += 1) await follow();
    expect(await refusalOf(follow())).to.equal("too-many");
    const own = { userId: randomUUID(), of: "another" };
    for (let count = 0; count < 5; count += 1) await follow(own);
    for (let count = 5; count < 100; count += 1) await follow({ of: "another" });
    expect(await refusalOf(follow(own))).to.equal("opened");
  });

  it("end when their session expires", async () => {
    const reader = await follow();
    await pass(hourMs - 1_000, reader);
    expect(reader.ended).to.equal(false);
    await pass(1_500, reader);
    expect([reader.ended, reader.frames.at(-1)]).to.deep.equal(
      [true, { event: "end", data: { reason: "expired" }, id: undefined }]);
    expect(subscriptions).to.equal(0);
  });

  it("end when the process does, and no more are taken then", async () => {
    const reader = await follow();
    await live.stop();
    await reader.take();
    expect([reader.ended, reader.frames.at(-1)?.data]).to.deep.equal([true, { reason: "shutdown" }]);
    expect(await refusalOf(follow())).to.equal("unavailable");
  });

  it("end when their missed entries cannot be read", async () => {
    await happen(2);
    log.readLog = () => Promise.reject(new Error("away"));
    const reader = await follow({ lastId: "0000000000000001" });
    await resumed(reader);
    expect([reader.ended, reader.frames.at(-1)?.data]).to.deep.equal([true, { reason: "unavailable" }]);
  });

  it("leave nothing behind when their connection goes while they begin", async () => {
    const held = Promise.withResolvers<void>();
    log.head = async () => {
      await held.promise;
      return store.head();
    };
    const reader = new Reader();
    const caller = {
      tenantId, id: "u", credentialIds: ["t"], expiresAt: timestamp(clock.now() + hourMs), check: async () => undefined,
      gone: reader.gone.signal,
    };
    const opening = live.open(caller, all, "0000000000000001");
    reader.gone.abort();
    held.resolve();
    reader.attach(await opening);
    await reader.take();
    expect([reader.ended, subscriptions, clock.pending]).to.deep.equal([true, 0, []]);
  });
});
