import { randomUUID } from "node:crypto";
import { expect } from "chai";
import type { SessionEvent } from "../../../../src/features/people/sessions/facts.ts";
import { LogUnavailable, noStream, type EventLog, type LogEntry } from "../../../../src/kernel/ports/event-store.ts";
import { LogTail } from "../../../../src/kernel/workers/log-tail.ts";
import { InMemoryEventStore } from "../../../support/in-memory-event-store.ts";
import { ManualClock } from "../../../support/manual-clock.ts";
import { salt } from "../../../support/recorded.ts";
import { quiet } from "../../../support/telemetry.ts";

describe("log tail", () => {
  let clock: ManualClock;
  let store: InMemoryEventStore;
  let seen: LogEntry[];
  let follower: LogTail;
  let anomalies: string[];
  let lines: string[];
  let away: boolean;
  let deaf: boolean;
  /** The head of the log is not answered before this resolves. */
  let answering: Promise<void>;
  beforeEach(async () => {
    clock = new ManualClock();
    store = new InMemoryEventStore();
    [seen, anomalies, lines] = [[], [], []];
    [away, deaf, answering] = [false, false, Promise.resolve()];
    await write("session");
    const log: EventLog = {
      head: async () => {
        if (away) throw new LogUnavailable("gone");
        const head = await store.head();
        await answering;
        return head;
      },
      end: () => store.end(),
      isPosition: (text) => store.isPosition(text),
      readLog: (...args) => store.readLog(...args),
      readTimes: (...args) => store.readTimes(...args),
      subscribe: (options, handle) =>
        store.subscribe(options, (entries, upTo) => (deaf ? undefined : handle(entries, upTo))),
    };
    follower = new LogTail({
      log, clock, categories: ["session"],
      logger: { ...quiet, info: (_fields, line) => lines.push(line), warn: (_fields, line) => lines.push(line) },
      metrics: { anomaly: (kind) => anomalies.push(kind) },
      handle: (entries) => void seen.push(...entries),
    });
    await follower.start();
  });
  afterEach(() => follower.stop());

  const pass = async (ms: number) => {
    for (let left = ms; left > 0; left -= 100) {
      clock.advance(Math.min(100, left));
      for (let turn = 0; turn < 10; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    }
  };
  const write = async (category: string) => {
    const stream = `${category}-${randomUUID()}`;
    const at = "2026-01-15T09:30:00.000Z";
    const [tokenId, userId, tenantId] = [randomUUID(), randomUUID(), randomUUID()];
    const event: SessionEvent = { type: "SessionRevoked", data: { tokenId, userId, tenantId, expiresAt: at, at } };
    const metadata = { actor: { type: "anonymous" }, correlationId: "spec", causationId: null, at, salt } as const;
    await store.append(stream, noStream, [{ id: randomUUID(), event, metadata }]);
    return stream;
  };

  it("is fresh from its start, and while the log is idle or busy", async () => {
    expect(follower.fresh).to.equal(true);
    await pass(10_000);
    expect(follower.fresh).to.equal(true);
    expect(seen, "what was there before").to.deep.equal([]);
    for (let round = 0; round < 20; round += 1) {
      await write("session");
      await write("other");
      await pass(100);
      expect(follower.fresh).to.equal(true);
    }
    expect(seen).to.have.length(20);
  });

  it("knows since when the log has been reachable without interruption", async () => {
    const startedAt = follower.reachableSince;
    await pass(10_000);
    expect(follower.reachableSince).to.equal(startedAt);
    away = true;
    await pass(1_500);
    away = false;
    await pass(1_000);
    expect(follower.reachableSince, "after a short interruption").to.equal(startedAt);
    away = true;
    await pass(2_500);
    expect(follower.reachableSince).to.equal(Infinity);
    away = false;
    await pass(1_000);
    expect(clock.monotonic() - follower.reachableSince).to.be.within(500, 1_000);
  });

  it("treats a log that does not answer as unreachable", async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    answering = promise;
    await pass(2_500);
    expect(follower.reachableSince).to.equal(Infinity);
    resolve();
    await pass(1_000);
    expect(clock.monotonic() - follower.reachableSince).to.be.within(500, 1_000);
  });

  it("is not fresh a second after the log became unreachable, and is fresh again when it is back", async () => {
    away = true;
    await pass(700);
    expect(follower.fresh).to.equal(true);
    await pass(700);
    expect(follower.fresh).to.equal(false);
    away = false;
    await pass(300);
    expect(follower.fresh).to.equal(true);
    expect(lines).to.deep.equal(["the log cannot be followed", "the log is followed again"]);
    expect(new Set(anomalies)).to.deep.equal(new Set(["following the log"]));
  });

  it("is followed for eight seconds without a proof: busy engines pause", async () => {
    away = true;
    await pass(7_500);
    expect([follower.fresh, follower.isFollowed]).to.deep.equal([false, true]);
    await pass(1_000);
    expect(follower.isFollowed).to.equal(false);
    away = false;
    await pass(300);
    expect(follower.isFollowed).to.equal(true);
  });

  it("is renewed by a look at the log that began after the request, and gives up after ten seconds", async () => {
    deaf = true;
    const stream = await write("session");
    const renewed = follower.renewed();
    expect(seen).to.have.length(0);
    await pass(300);
    expect(await renewed).to.equal(true);
    expect(seen.map((entry) => entry.stream)).to.deep.equal([stream]);
    away = true;
    const waiting = follower.renewed();
    await pass(9_500);
    away = false;
    await pass(300);
    expect(await waiting).to.equal(true);
    away = true;
    const [lost, later] = [follower.renewed(), pass(10_100)];
    await later;
    expect(await lost).to.equal(false);
  });

  it("is not renewed by a look that had begun before the request", async () => {
    deaf = true;
    const look = Promise.withResolvers<void>();
    answering = look.promise;
    await pass(200);
    answering = Promise.resolve();
    clock.advance(1);
    const stream = await write("session");
    const seenThen = follower.renewed().then(() => seen.map((entry) => entry.stream));
    look.resolve();
    await pass(400);
    expect(await seenThen).to.deep.equal([stream]);
  });

  it("sees entries that a subscription delivers late", async () => {
    deaf = true;
    const stream = await write("session");
    await write("other");
    await pass(300);
    expect(seen.map((entry) => entry.stream)).to.deep.equal([stream]);
    expect(follower.fresh).to.equal(true);
  });

  it("is not fresh when it is far behind", async () => {
    deaf = true;
    for (let count = 0; count < 10_000; count += 1) await write("session");
    await pass(1_200);
    expect(follower.fresh).to.equal(false);
    deaf = false;
    await pass(2_000);
    expect(follower.fresh).to.equal(true);
  });
});
