import { expect } from "chai";
import {
  ReadModelsTakenOver, type PositionedChanges, type ReadModels, type ReadModelWriter,
} from "../../../src/kernel/ports/read-models.ts";
import type { ProjectionRunner } from "../../../src/projector/projection-runner.ts";
import { acceptEvent } from "../../support/accepted-event.ts";
import { InMemoryEventStore } from "../../support/in-memory-event-store.ts";
import { InMemoryReadModels } from "../../support/in-memory-read-models.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { projectorOf } from "../../support/projector.ts";

const at = "2026-01-15T09:30:00.000Z";

/** Read models with several writers: only writes of the newest projector are accepted. */
class SharedReadModels extends InMemoryReadModels {
  /** The position up to which entries were applied. */
  readonly applied: string[] = [];
  resets = 0;
  #writers = 0;

  writer(): ReadModelWriter & Pick<ReadModels, "find" | "get"> {
    let own = 0;
    const write = async (action: () => Promise<void>) => {
      if (own !== this.#writers) throw new ReadModelsTakenOver("another writes");
      return action();
    };
    return {
      find: (query) => this.find(query),
      get: (collection, key) => this.get(collection, key),
      state: async () => {
        own = this.#writers += 1;
        return this.state();
      },
      reset: (...args) => write(() => {
        this.resets += 1;
        return this.reset(...args);
      }),
      publish: () => write(() => this.publish()),
      apply: (batch, checkpoint) => write(() => {
        this.#note(batch);
        return this.apply(batch, checkpoint);
      }),
      amend: (changes) => write(() => this.amend(changes)),
      removeCounters: (text) => write(() => this.removeCounters(text)),
    };
  }

  #note(batch: readonly PositionedChanges[]): void {
    for (const { position } of batch) this.applied.push(position);
  }
}

describe("projectors of the same read models", () => {
  let log: InMemoryEventStore;
  let models: SharedReadModels;
  let clock: ManualClock;
  let runners: ProjectionRunner[];

  beforeEach(() => {
    log = new InMemoryEventStore();
    models = new SharedReadModels();
    clock = new ManualClock();
    runners = [];
  });
  afterEach(() => Promise.all(runners.map((runner) => runner.stop())));

  const begin = () => {
    const runner = projectorOf({ log, models: models.writer(), clock });
    runners.push(runner);
    runner.start();
    return runner;
  };
  const accept = async () => {
    await acceptEvent(log, at);
    return log.head();
  };
  const pass = async (ms: number) => {
    clock.advance(ms);
    for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  };

  it("go on after another has written meanwhile, from its checkpoint", async () => {
    const first = begin();
    const positions = [await accept()];
    await first.drained(positions[0]!);
    const second = begin();
    await pass(0);
    positions.push(await accept());
    await second.drained(positions[1]!);
    await second.stop();
    positions.push(await accept());
    await pass(1_000);
    await pass(1_000);
    expect(await models.checkpoint()).to.equal(positions[2]);
    expect(models.applied).to.deep.equal(positions);
    expect(models.resets).to.equal(1);
  });

  it("can be stopped though another writes", async () => {
    const first = begin();
    const position = await accept();
    await first.drained(position);
    await models.writer().state();
    await accept();
    await pass(0);
    await first.stop();
    await pass(60_000);
    expect(await models.checkpoint()).to.equal(position);
  });
});
