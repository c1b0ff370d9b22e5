import { expect } from "chai";
import { SystemClock } from "../../../src/engines/system/system-clock.ts";
import { noStream } from "../../../src/kernel/ports/event-store.ts";
import { freshStream, note } from "../../contract/event-store/harness.ts";
import { InMemoryReadModels } from "../../support/in-memory-read-models.ts";
import { projectorOf } from "../../support/projector.ts";
import { OwnBench } from "./bench.ts";

class CountedReadModels extends InMemoryReadModels {
  resets = 0;

  override async reset(...args: Parameters<InMemoryReadModels["reset"]>): Promise<void> {
    this.resets += 1;
    await super.reset(...args);
  }
}

describe("projecting the log of EventStoreDB", () => {
  let models: CountedReadModels;
  beforeEach(() => {
    models = new CountedReadModels();
  });

  /** Runs a projector until the read models have reached the end of the log. */
  async function project(bench: OwnBench): Promise<void> {
    const log = await bench.client();
    const runner = projectorOf({ log, models, clock: new SystemClock() });
    runner.start();
    await runner.drained(await log.end());
    await runner.stop();
  }

  it("resumes at its checkpoint after restarts, also when the server wrote last", async () => {
    const bench = await OwnBench.start();
    try {
      const store = await bench.client();
      const [kept, doomed] = [freshStream(), freshStream()];
      await store.append(doomed, noStream, [note("a")]);
      await store.append(kept, noStream, [note("b")]);
      await store.deleteStream(doomed);
      for (let start = 0; start < 3; start += 1) await project(bench);
      expect(models.resets).to.equal(1);
      // The read models stand at a record of the server, and new records follow.
      await bench.stranger().setStreamMetadata("other", { maxCount: 3 });
      for (let start = 0; start < 2; start += 1) await project(bench);
      expect(models.resets).to.equal(1);
    } finally {
      await bench.stop();
    }
  });

  it("rebuilds on another, shorter log", async () => {
    const benches = [await OwnBench.start(), await OwnBench.start()] as const;
    try {
      for (const [at, bench] of benches.entries()) {
        const entries = Array.from({ length: 9 - 8 * at }, (_, text) => note(String(text)));
        await (await bench.client()).append(freshStream(), noStream, entries);
        await project(bench);
      }
      expect(models.resets).to.equal(2);
    } finally {
      await Promise.all(benches.map((bench) => bench.stop()));
    }
  });
});
