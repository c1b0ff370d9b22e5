import { EventEmitter } from "node:events";
import { setImmediate as turn } from "node:timers/promises";
import { expect } from "chai";
import type { Connection } from "../../../../src/engines/eventstoredb/connection.ts";
import { Feed } from "../../../../src/engines/eventstoredb/feed.ts";
import { positionOf } from "../../../../src/engines/eventstoredb/positions.ts";
import type { StoredRecord } from "../../../../src/engines/eventstoredb/records.ts";
import { defaultTuning } from "../../../../src/engines/eventstoredb/tuning.ts";
import { failureOf } from "../../../contract/event-store/harness.ts";
import { ManualClock } from "../../../support/manual-clock.ts";

const { behindMs, stallMs } = defaultTuning;
const at = (commit: number) => positionOf({ commit: String(commit), prepare: String(commit) });

describe("a subscription that receives no entries though the log has some", () => {
  const missing = { position: at(9) } as StoredRecord;
  let clock: ManualClock;
  let call: EventEmitter;
  let feed: Feed;

  beforeEach(() => {
    clock = new ManualClock();
    call = Object.assign(new EventEmitter(), { cancel: () => undefined });
    const connection = {
      streams: async () => ({}),
      read: () => call,
      answered: () => undefined,
    } as unknown as Connection;
    feed = new Feed({
      connection, clock, tuning: defaultTuning, onAnomaly: () => undefined,
      entry: ({ position }) => ({ position }) as never,
      newest: () => missing.position, head: async () => missing.position, page: async () => [missing],
    }, at(5), { by: "stream", prefixes: [""], window: 512 }, () => true);
  });
  afterEach(() => feed.close());

  it("fails once it has stalled for the whole time, also with checkpoints meanwhile", async () => {
    const failures: unknown[] = [];
    void failureOf(feed.next()).then((failure) => failures.push(failure));
    const startedAt = clock.monotonic();
    const pass = async (ms: number) => {
      await turn();
      clock.advance(ms);
      await turn();
    };
    await pass(behindMs);
    while (clock.monotonic() - startedAt < stallMs) {
      call.emit("data", { checkpoint: at(3) });
      await pass(behindMs);
    }
    expect(failures).to.deep.equal([]);
    while (failures.length === 0 && clock.monotonic() - startedAt < 2 * stallMs) await pass(behindMs);
    expect(String(failures[0])).to.contain(`for ${stallMs} ms`);
    expect(clock.monotonic() - startedAt).to.be.within(stallMs, stallMs + 5 * behindMs);
  });

  it("fails at once when the server ends it", async () => {
    const failure = failureOf(feed.next());
    await turn();
    call.emit("status", { code: 0 });
    expect(String(await failure)).to.contain("ended the subscription");
  });

  it("closes without waiting for an answer", async () => {
    const next = feed.next();
    await turn();
    feed.close();
    expect(await next).to.equal(undefined);
  });
});
