import { expect } from "chai";
import { Freshness } from "../../../src/application/freshness.ts";
import type { Refusal } from "../../../src/domain/refusal.ts";
import type { EventLog } from "../../../src/ports/event-store.ts";
import type { ReadModels } from "../../../src/ports/read-models.ts";
import { ManualClock } from "../../support/manual-clock.ts";

/** Read models that never catch up, and a log whose head takes as long as the test wants. */
function behind() {
  const clock = new ManualClock();
  const heads: (() => void)[] = [];
  const log = { head: () => new Promise<string>((resolve) => heads.push(() => resolve("1"))) };
  const caughtUp = (_position: string, timeoutMs: number) =>
    new Promise<boolean>((resolve) => clock.schedule(timeoutMs, () => resolve(false)));
  const freshness = new Freshness(log as unknown as EventLog, { caughtUp } as unknown as ReadModels, clock);
  return { clock, heads, freshness };
}

const soon = () => new Promise(setImmediate);

describe("waiting for the read models", () => {
  it("is over after 2 s, also for who comes while another waits", async () => {
    const { clock, heads, freshness } = behind();
    const refused: string[] = [];
    const ask = (name: string) => void freshness.wait().catch(() => refused.push(name));
    ask("first");
    heads.shift()?.();
    await soon();
    clock.advance(1_500);
    ask("second");
    heads.shift()?.();
    await soon();
    clock.advance(500);
    await soon();
    expect(refused).to.deep.equal(["first"]);
    clock.advance(1_500);
    await soon();
    expect(refused).to.deep.equal(["first", "second"]);
  });

  it("is over after 2 s where the log does not say its end, also for who comes in the middle of a look", async () => {
    const { clock, heads, freshness } = behind();
    const refused: string[] = [];
    const ask = (name: string) => void freshness.wait().catch(({ kind }: Refusal) => refused.push(`${name} ${kind}`));
    ask("first");
    clock.advance(500);
    ask("second");
    clock.advance(1_500);
    await soon();
    expect(refused).to.deep.equal(["first unavailable"]);
    clock.advance(500);
    await soon();
    expect(refused).to.deep.equal(["first unavailable", "second unavailable"]);
    expect(heads).to.have.length(1);
  });

  it("looks at the log's head again for who comes in the middle of a look, once for all of them", async () => {
    const { heads, freshness } = behind();
    for (let asked = 0; asked < 5; asked += 1) void freshness.wait().catch(() => undefined);
    expect(heads).to.have.length(1);
    heads.shift()?.();
    await soon();
    expect(heads).to.have.length(1);
    heads.shift()?.();
    await soon();
    expect(heads).to.have.length(0);
  });
});
