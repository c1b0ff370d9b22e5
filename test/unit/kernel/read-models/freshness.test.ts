import { expect } from "chai";
import type { Refusal } from "../../../../src/kernel/domain/refusal.ts";
import type { EventLog } from "../../../../src/kernel/ports/event-store.ts";
import type { ReadModels } from "../../../../src/kernel/ports/read-models.ts";
import { Freshness } from "../../../../src/kernel/read-models/freshness.ts";
import { ManualClock } from "../../../support/manual-clock.ts";

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
  it("ends after 2 s, also for a caller that comes while another waits", async () => {
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

  it("ends after 2 s where the log does not tell its head, also for a caller that comes during a query", async () => {
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

  it("asks for the log's head again for callers that come during a query, once for all of them", async () => {
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

describe("asking the read models", () => {
  /** A log that ends at 1, and read models that a test takes there and back. */
  function following() {
    const clock = new ManualClock();
    let reached = "1";
    const waiting: (() => void)[] = [];
    const models = {
      checkpoint: async () => reached,
      caughtUp: (position: string, timeoutMs: number) => new Promise<boolean>((resolve) => {
        if (reached >= position) resolve(true);
        waiting.push(() => resolve(true));
        clock.schedule(timeoutMs, () => resolve(false));
      }),
    };
    const move = (to: string) => {
      reached = to;
      if (to === "1") for (const resolve of waiting.splice(0)) resolve();
    };
    const log = { head: async () => "1" };
    const freshness = new Freshness(log as unknown as EventLog, models as unknown as ReadModels, clock);
    return { clock, move, freshness };
  }

  it("is answered at once where they cover the log, and gets the log's head", async () => {
    const heads: string[] = [];
    expect(await following().freshness.ask(async (head) => heads.push(head))).to.equal(1);
    expect(heads).to.deep.equal(["1"]);
  });

  it("is repeated on the rebuilt read models where they are lost meanwhile", async () => {
    const { clock, move, freshness } = following();
    const seen: string[] = [];
    const answer = freshness.ask(async () => {
      if (seen.length === 0) move("0");
      seen.push("asked");
      return seen.length;
    });
    await soon();
    clock.advance(1_000);
    await soon();
    expect(seen).to.have.length(1);
    move("1");
    expect(await answer).to.equal(2);
  });

  it("is refused where they are lost and not rebuilt within 2 s", async () => {
    const { clock, move, freshness } = following();
    let refused: Refusal | undefined;
    void freshness.ask(async () => move("0")).catch((error: Refusal) => (refused = error));
    await soon();
    clock.advance(1_000);
    await soon();
    clock.advance(999);
    await soon();
    expect(refused).to.equal(undefined);
    clock.advance(1);
    await soon();
    expect(refused).to.include({ kind: "unavailable" });
  });
});
