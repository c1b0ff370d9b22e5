import { expect } from "chai";
import { pairOf } from "../../../src/engines/eventstoredb/positions.ts";
import { SystemClock } from "../../../src/engines/system/system-clock.ts";
import { logStart, type EventStore, type Position } from "../../../src/kernel/ports/event-store.ts";
import { History } from "../../support/histories.ts";
import { InMemoryReadModels } from "../../support/in-memory-read-models.ts";
import { projectorOf } from "../../support/projector.ts";
import { metadata } from "../../support/recorded.ts";
import { OwnBench } from "./bench.ts";

/** A destination, and an event that waits for a retry before it is delivered. */
const { told } = new History(
  ["registerDestination", "issueKey", "accept", "startAttempt", "fail", "startAttempt", "succeed"].map((action) =>
    ({ action, which: 0, number: 1, after: 1_000 })),
);
const { stream } = told.at(-1)!;

describe("a deleted event of which a scavenge has left some facts in EventStoreDB", () => {
  let bench: OwnBench;
  let store: EventStore;
  beforeEach(async () => {
    bench = await OwnBench.start();
    store = await bench.client();
  });
  afterEach(() => bench.stop());

  /** Appends the facts; the position of each. */
  async function write(): Promise<Position[]> {
    const positions: Position[] = [];
    for (const [at, { stream: to, fact: event }] of told.entries()) {
      const before = told.slice(0, at).filter((one) => one.stream === to).length;
      const entry = { id: crypto.randomUUID(), event, metadata };
      positions.push((await store.append(to, before - 1, [entry])).position);
    }
    return positions;
  }

  async function built() {
    const models = new InMemoryReadModels();
    await projectorOf({ log: store, models, clock: new SystemClock(), leavesOrphans: true }).rebuild();
    return models.contents();
  }

  for (const left of [5, 4, 3, 2, 1]) {
    it(`is not counted when its last ${left} facts are left`, async () => {
      const positions = await write();
      await store.deleteStream(stream);
      bench.server.scavenge(BigInt(pairOf(positions.at(-left)!).commit));
      const { entries } = await store.readLog(logStart, 100);
      expect(entries.filter((entry) => entry.stream === stream)).to.have.length(left);
      const contents = await built();
      bench.server.scavenge();
      expect(contents).to.deep.equal(await built());
    });
  }
});
