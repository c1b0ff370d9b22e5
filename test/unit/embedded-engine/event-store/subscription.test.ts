import { expect } from "chai";
import { positionOf } from "../../../../packages/embedded-engine/src/event-store/positions.ts";
import {
  LogSubscription, type LogSource, type OwnCommit,
} from "../../../../packages/embedded-engine/src/event-store/subscription.ts";
import { SystemClock } from "../../../../src/engines/system/system-clock.ts";
import type { BatchHandler, RecordedEvent } from "../../../../src/kernel/ports/event-store.ts";
import { note, until } from "../../../contract/event-store/harness.ts";
import { ManualClock } from "../../../support/manual-clock.ts";

function recorded(sequence: number): RecordedEvent {
  const { id, event, metadata } = note(String(sequence));
  const position = positionOf(sequence);
  return { stream: "event-1", revision: sequence - 1, position, id, type: event.type, data: event.data, metadata };
}

/** A log in memory, and a subscription to it. */
class Scene {
  readonly log: RecordedEvent[] = [];
  readonly seen: string[] = [];
  readonly anomalies: unknown[] = [];
  reads = 0;
  armed = false;
  onArm: () => void = () => undefined;
  onRead: () => void = () => undefined;
  readonly subscription: LogSubscription;

  constructor(handle: BatchHandler, bufferEntries = 10, clock: LogSource["clock"] = new SystemClock()) {
    const source: LogSource = {
      clock,
      head: () => this.log.length,
      read: (after, limit) => {
        this.reads += 1;
        this.onRead();
        const entries = this.log.slice(after, after + limit);
        return { entries, upTo: after + entries.length };
      },
      arm: () => {
        this.armed = true;
        this.onArm();
      },
      onAnomaly: (error) => this.anomalies.push(error),
    };
    this.subscription = new LogSubscription(source, 0, {}, (entries, upTo) => {
      this.seen.push(...entries.map(({ position }) => position));
      return handle(entries, upTo);
    }, bufferEntries);
  }

  /** Commits entries; with `bytes`, as this client's own. */
  commit(count: number, bytes?: number): void {
    const after = this.log.length;
    const entries = Array.from({ length: count }, (_, at) => recorded(after + at + 1));
    this.log.push(...entries);
    const commit: OwnCommit = { after, upTo: after + count, entries, bytes: bytes ?? 0 };
    if (bytes !== undefined) this.subscription.offer(commit);
  }

  live(): Promise<void> {
    return until("it is live", () => this.armed);
  }

  async sawAll(): Promise<void> {
    await until("all was seen", () => this.seen.length >= this.log.length);
    expect(this.seen).to.deep.equal(this.log.map(({ position }) => position));
    await this.subscription.stop();
  }
}

describe("a subscription to the embedded log", () => {
  it("misses no entry that others commit between its last read and its request to be woken", async () => {
    const scene = new Scene(() => undefined);
    scene.onArm = () => {
      scene.onArm = () => undefined;
      scene.commit(3);
    };
    await scene.live();
    expect(scene.log).to.have.length(3);
    await scene.sawAll();
  });

  it("does not read the log for its own commits while it keeps up", async () => {
    const scene = new Scene(() => undefined);
    await scene.live();
    const { reads } = scene;
    for (let round = 0; round < 5; round++) scene.commit(3, 100);
    expect(scene.seen).to.have.length(15);
    expect(scene.reads).to.equal(reads);
    await scene.sawAll();
  });

  for (const [what, count, bytes] of [["entries", 11, 100], ["bytes", 1, 17_000_000]] as const) {
    it(`keeps a bounded number of ${what} while its handler is busy`, async () => {
      const gate = Promise.withResolvers<undefined>();
      const scene = new Scene((entries) => (entries.length > 0 ? gate.promise : undefined));
      await scene.live();
      scene.commit(1, 100);
      const { reads } = scene;
      scene.commit(count, bytes);
      scene.commit(2, 100);
      gate.resolve(undefined);
      await scene.sawAll();
      expect(scene.reads).to.be.above(reads);
    });
  }

  it("reads the entries that others commit before its own next commit", async () => {
    const scene = new Scene(() => undefined);
    await scene.live();
    scene.commit(2);
    scene.commit(1, 100);
    await scene.sawAll();
  });

  it("ignores its own commits that it has read already", async () => {
    const scene = new Scene(() => undefined);
    await scene.live();
    scene.commit(2);
    scene.subscription.wake();
    scene.armed = false;
    await scene.live();
    expect(scene.seen).to.have.length(2);
    const entries = scene.log.slice(0, 2);
    scene.subscription.offer({ after: 0, upTo: 2, entries, bytes: 0 });
    scene.commit(1, 100);
    await scene.sawAll();
  });

  it("asks to be woken again after a wake-up without new entries", async () => {
    const scene = new Scene(() => undefined);
    await scene.live();
    scene.armed = false;
    scene.subscription.wake();
    expect(scene.armed).to.equal(true);
    await scene.sawAll();
  });

  it("receives nothing once it is stopped", async () => {
    const scene = new Scene(() => undefined);
    await scene.live();
    const stopped = scene.subscription.stop();
    scene.commit(1, 100);
    scene.commit(1);
    scene.subscription.wake();
    await stopped;
    expect(scene.seen).to.deep.equal([]);
  });

  it("retries and reports a failed read", async () => {
    let failures = 2;
    const scene = new Scene(() => undefined);
    scene.onRead = () => {
      if (failures-- > 0) throw new Error("busy");
    };
    scene.commit(2);
    await scene.sawAll();
    expect(scene.anomalies).to.have.length(2);
  });

  it("waits ever longer, up to five seconds, for a log that cannot be read", async () => {
    const clock = new ManualClock();
    const scene = new Scene(() => undefined, 10, clock);
    scene.onRead = () => {
      throw new Error("busy");
    };
    scene.commit(1);
    const waits: number[] = [];
    for (let wait = 0; wait < 9; wait += 1) {
      await until("it waits", () => clock.pending.length === 1);
      waits.push(...clock.pending);
      clock.advance(clock.pending[0]!);
    }
    expect(waits).to.deep.equal([50, 100, 200, 400, 800, 1_600, 3_200, 5_000, 5_000]);
    scene.onRead = () => undefined;
    await scene.sawAll();
  });
});
