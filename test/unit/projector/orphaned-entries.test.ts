import { expect } from "chai";
import { SystemClock } from "../../../src/engines/system/system-clock.ts";
import { streams } from "../../../src/kernel/domain/streams.ts";
import { logStart } from "../../../src/kernel/ports/event-store.ts";
import { OrphanedEntries } from "../../../src/projector/entries.ts";
import type { ProjectionRunner } from "../../../src/projector/projection-runner.ts";
import { History } from "../../support/histories.ts";
import { InMemoryReadModels } from "../../support/in-memory-read-models.ts";
import { projectorOf } from "../../support/projector.ts";
import { WrittenLog } from "../../support/written-log.ts";

/** Read models that count how often they are searched. */
class CountedReadModels extends InMemoryReadModels {
  finds = 0;

  override find(...args: Parameters<InMemoryReadModels["find"]>): ReturnType<InMemoryReadModels["find"]> {
    this.finds += 1;
    return super.find(...args);
  }
}

describe("orphaned entries of deleted events", () => {
  let log: WrittenLog;
  beforeEach(() => {
    log = new WrittenLog();
  });

  const told = (...actions: readonly string[]) =>
    new History(["registerDestination", "issueKey", ...actions].map((action) =>
      ({ action, which: 0, number: 1, after: 1_000 }))).told;

  function runnerOf(models: InMemoryReadModels, leavesOrphans: boolean): ProjectionRunner {
    return projectorOf({ log, models, clock: new SystemClock(), leavesOrphans });
  }

  it("are told apart from facts whose event began just before, or is in the read models", async () => {
    const models = new InMemoryReadModels();
    log.write(told("accept", "startAttempt", "succeed"));
    await runnerOf(models, true).rebuild();
    const { entries } = await log.readLog(logStart, 100);
    const [accepted, ...later] = entries.slice(-3);
    expect(await new OrphanedEntries(models).without(later)).to.deep.equal(later);
    const anew = new InMemoryReadModels();
    const remains = new OrphanedEntries(anew);
    expect(await remains.without(later)).to.deep.equal([]);
    expect(await remains.without([accepted!])).to.deep.equal([accepted]);
    expect(await remains.without(later)).to.deep.equal(later);
  });

  it("are none if the beginning is in the batch or in an earlier one", async () => {
    const others = (length: number) => Array.from({ length }, () => "newSecret");
    log.write(told("accept", ...others(700), "startAttempt", ...others(8_000), "succeed"));
    const [looking, plain] = [new InMemoryReadModels(), new InMemoryReadModels()];
    await runnerOf(looking, true).rebuild();
    await runnerOf(plain, false).rebuild();
    expect(looking.contents()).to.deep.equal(plain.contents());
  });

  it("are looked for only until the runner has caught up with the log", async () => {
    const models = new CountedReadModels();
    const all = told("accept", "startAttempt", "succeed");
    log.write(all.slice(0, -2));
    const runner = runnerOf(models, true);
    const { promise: caughtUp, resolve } = Promise.withResolvers<void>();
    const subscribe = log.subscribe.bind(log);
    log.subscribe = (...args) => {
      resolve();
      return subscribe(...args);
    };
    runner.start();
    await caughtUp;
    const before = models.finds;
    log.write(all.slice(-2));
    await runner.drained(await log.head());
    await runner.stop();
    expect(models.finds).to.equal(before);
  });

  it("are told apart among more events than one query asks about", async () => {
    const models = new InMemoryReadModels();
    log.write(told(...Array.from({ length: 101 }, () => "accept")));
    await runnerOf(models, true).rebuild();
    const later = log.entries.filter(({ type }) => type === "EventAccepted")
      .map((entry) => ({ ...entry, type: "EventCancelled" }));
    expect(later).to.have.length(101);
    expect(await new OrphanedEntries(models).without(later)).to.deep.equal(later);
  });

  it("include no fact of a circuit, even one about a deleted event", async () => {
    log.write([
      { stream: streams.circuit("one"), fact: { type: "CircuitClosed", data: { eventId: "deleted" } } },
    ]);
    expect(await new OrphanedEntries(new InMemoryReadModels()).without(log.entries)).to.deep.equal(log.entries);
  });
});
