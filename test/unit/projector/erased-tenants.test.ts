import { setImmediate as turn } from "node:timers/promises";
import { expect } from "chai";
import fc from "fast-check";
import { streams } from "../../../src/kernel/domain/streams.ts";
import type { ProjectionParts } from "../../../src/projector/projection-run.ts";
import type { ProjectionRunner } from "../../../src/projector/projection-runner.ts";
import type { Told } from "../../support/chronicle.ts";
import { histories, History } from "../../support/histories.ts";
import { InMemoryReadModels } from "../../support/in-memory-read-models.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { projectorOf } from "../../support/projector.ts";
import { WrittenLog } from "../../support/written-log.ts";

const tenantOf = ({ fact }: Told) => (fact.data as { readonly tenantId?: string }).tenantId;

/** A history whose first tenant was erased, one entry of it unreadable; the log still returns deleted entries. */
function erased(told: readonly Told[], damagedAt: number): { readonly log: WrittenLog; readonly tenantId: string } {
  const tenantId = tenantOf(told[0]!)!;
  const own = told.filter((one) => tenantOf(one) === tenantId);
  const log = new WrittenLog();
  for (const one of told) log.write([one], one === own[damagedAt % own.length] ? "damaged" : undefined);
  for (const { stream } of own) log.delete(stream);
  const fact = { type: "TenantErased", data: { tenantId, at: "2026-01-15T09:30:00.000Z" } } as const;
  log.write([{ stream: streams.tenant(tenantId), fact }]);
  return { log, tenantId };
}

/** A log cut after `count` entries, without the entries for which `isMeant` is false. */
function part(log: WrittenLog, count: number, isMeant = (_at: number) => true): ProjectionParts["log"] {
  return {
    head: () => log.head(),
    end: () => log.end(),
    isPosition: (text) => log.isPosition(text),
    readStream: (...asked) => log.readStream(...asked),
    deleteStream: (stream) => log.deleteStream(stream),
    subscribe: (...asked) => log.subscribe(...asked),
    readTimes: (...asked) => log.readTimes(...asked),
    readLog: async (after, limit) => {
      const { entries, upTo } = await log.readLog(after, Math.min(limit, count - Number(after)));
      return { entries: entries.filter(({ position }) => isMeant(Number(position) - 1)), upTo };
    },
  };
}

function runnerOver(log: ProjectionParts["log"], models: InMemoryReadModels): ProjectionRunner {
  return projectorOf({ log, models, clock: new ManualClock() });
}

async function built(log: ProjectionParts["log"]): Promise<InMemoryReadModels> {
  const models = new InMemoryReadModels();
  await runnerOver(log, models).rebuild();
  return models;
}

describe("projecting a log with an erased tenant", () => {
  it("gives the same result as without the tenant, from the beginning and from the middle", async () => {
    await fc.assert(fc.asyncProperty(histories(40), fc.nat(), fc.nat(), async ({ told }, damagedAt, stoppedAt) => {
      const { log, tenantId } = erased(told, damagedAt);
      const isOthers = (at: number) => at < told.length && tenantOf(told[at]!) !== tenantId;
      const expected = (await built(part(log, log.entries.length, isOthers))).contents();
      expect((await built(log)).contents()).to.deep.equal(expected);
      const models = await built(part(log, stoppedAt % log.entries.length));
      const runner = runnerOver(log, models);
      runner.start();
      await runner.drained(await log.head());
      while (await models.get("erasures", tenantId)) await turn();
      await runner.stop();
      expect(models.contents()).to.deep.equal(expected);
    }));
  });

  it("asks the log about each tenant once, and about none after it has caught up", async () => {
    const { told } = new History(Array.from({ length: 700 }, () =>
      ({ action: "newSecret", which: 0, number: 1, after: 1 })));
    const [first = ""] = told.map(tenantOf);
    const log = new WrittenLog();
    const asked: string[] = [];
    const readStream = log.readStream.bind(log);
    log.readStream = async (stream, options) => {
      asked.push(stream);
      return readStream(stream, options);
    };
    log.write(told.filter((one) => tenantOf(one) === first));
    expect(log.entries.length).to.be.greaterThan(700);
    const runner = runnerOver(log, new InMemoryReadModels());
    runner.start();
    await runner.drained(await log.head());
    expect(asked).to.deep.equal([streams.tenant(first)]);
    log.write(told.filter((one) => tenantOf(one) !== first));
    await runner.drained(await log.head());
    await runner.stop();
    expect(asked).to.deep.equal([streams.tenant(first)]);
  });
});
