import { expect } from "chai";
import fc from "fast-check";
import { mongoDbOrSkip, newDatabase } from "../../support/engines/mongodb.ts";
import { WireProxy } from "../../support/engines/mongodb/wire-proxy.ts";
import { carryOn, contentsOf, expectedOf, histories, type Step } from "./histories.ts";
import { openProcess } from "./support.ts";

/** The death of a process at its n-th write, before the write arrives or before the answer does. */
interface Death {
  readonly at: number;
  readonly fate: "lost" | "answer lost";
}

/** Runs the rest of a history until the process dies; the number of its writes. */
async function live(url: string, steps: readonly Step[], cut: number, death: Death): Promise<number> {
  const proxy = await WireProxy.start(url);
  proxy.fateOf = (count) => (count === death.at ? death.fate : "pass");
  const process = openProcess(proxy.url);
  const died = await carryOn(process.writer, steps, cut).then(
    () => false,
    () => true,
  );
  expect(died).to.equal(proxy.count >= death.at);
  await proxy.close();
  await process.close();
  return proxy.count;
}

async function finish(url: string, steps: readonly Step[], cut: number) {
  const process = openProcess(url);
  try {
    await carryOn(process.writer, steps, cut);
    await process.writer.publish();
    return await contentsOf(process.reader);
  } finally {
    await process.connection.db.dropDatabase();
    await process.close();
  }
}

/** The tests of a suite: a writer dies at each of its writes, with one fate or with both, and in random histories. */
export function writerDies({ withBothFates, histories: numRuns }: {
  readonly withBothFates: boolean;
  readonly histories: number;
}): void {
  let server: Awaited<ReturnType<typeof mongoDbOrSkip>>;
  before(async function () {
    server = await mongoDbOrSkip(this);
  });

  it("have the same contents after the death at any write", async () => {
    const ofTwoSteps = fc.sample(histories, { numRuns: 200, seed: 7 }).filter((steps) => steps.length === 2);
    const [steps] = ofTwoSteps.toSorted((a, b) => sizeOf(b) - sizeOf(a));
    const expected = await expectedOf(steps!);
    const whole = await live(newDatabase(server), steps!, 3, { at: Infinity, fate: "lost" });
    expect(whole).to.be.greaterThan(15);
    const deaths = Array.from({ length: whole }, (_, n) => n + 1).flatMap((at): readonly Death[] => {
      const [lost, answerLost] = [{ at, fate: "lost" }, { at, fate: "answer lost" }] as const;
      if (withBothFates) return [lost, answerLost];
      return at % 2 === 0 ? [lost] : [answerLost];
    });
    const dieEach = async () => {
      for (let death = deaths.pop(); death; death = deaths.pop()) {
        const url = newDatabase(server);
        await live(url, steps!, 3, death);
        expect(await finish(url, steps!, 4), `${death.fate} at ${death.at}`).to.deep.equal(expected);
      }
    };
    await Promise.all([dieEach(), dieEach(), dieEach(), dieEach()]);
  });

  it("have the same contents after several deaths in any history", async () => {
    const death = fc.record({
      at: fc.integer({ min: 1, max: 25 }),
      fate: fc.constantFrom("lost" as const, "answer lost" as const),
    });
    const deaths = fc.array(fc.tuple(death, fc.integer({ min: 1, max: 5 })), { minLength: 1, maxLength: 3 });
    await fc.assert(
      fc.asyncProperty(histories, deaths, fc.integer({ min: 1, max: 5 }), async (steps, sessions, lastCut) => {
        const url = newDatabase(server);
        for (const [one, cut] of sessions) await live(url, steps, cut, one);
        expect(await finish(url, steps, lastCut)).to.deep.equal(await expectedOf(steps));
      }),
      { numRuns },
    );
  });
}

function sizeOf(steps: readonly Step[]): number {
  return steps.reduce((sum, { entries, amendment }) => sum + entries.flat().length + amendment.length, 0);
}
