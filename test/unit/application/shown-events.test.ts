import { expect } from "chai";
import { purges } from "../../../projections/purges/purges.ts";
import { ShownEvents } from "../../../src/application/shown-events.ts";
import type { Freshness } from "../../../src/application/freshness.ts";
import { idOf } from "../../support/histories.ts";
import { InMemoryReadModels } from "../../support/in-memory-read-models.ts";
import { ManualClock } from "../../support/manual-clock.ts";

const [tenantId, other] = [idOf("tenant", 0), idOf("tenant", 1)] as const;
const [earlier, purge] = [idOf("purge", 0), idOf("purge", 1)] as const;

describe("events as they are shown", () => {
  let models: InMemoryReadModels;
  let clock: ManualClock;

  beforeEach(async () => {
    models = new InMemoryReadModels();
    await models.reset([purges], "any");
    clock = new ManualClock();
  });

  const begin = (id: string, of = tenantId) => {
    const document = {
      id, tenantId: of, before: null, status: null, destinationId: null, position: "", hiding: true, completed: false,
    };
    return models.amend([{ op: "put", collection: purges.name, key: id, document }]);
  };
  const hidden = (id: string) =>
    models.amend([{ op: "set", collection: purges.name, key: id, fields: { hiding: false } }]);

  /** How often a question was asked, where something happens while it is asked for the first time. */
  const asked = async (meanwhile: () => Promise<void>) => {
    const freshness = { wait: async () => undefined } as unknown as Freshness;
    const shown = new ShownEvents({ readModels: models, freshness, clock });
    let times = 0;
    const answer = shown.ask(tenantId, async () => {
      times += 1;
      if (times === 1) await meanwhile();
      return times;
    });
    const over = answer.then(() => true, () => true);
    const turn = () => new Promise<false>((resolve) => setImmediate(() => resolve(false)));
    while (!(await Promise.race([over, turn()]))) clock.advance(20);
    return answer;
  };

  it("are asked about once where nothing is purged, and where a purge has taken its events out of sight", async () => {
    await begin(earlier);
    await hidden(earlier);
    await begin(idOf("purge", 2), other);
    expect(await asked(async () => undefined)).to.equal(1);
  });

  it("are asked about again where a purge came to an end meanwhile", async () => {
    await begin(purge);
    expect(await asked(() => hidden(purge))).to.equal(2);
  });

  it("are asked about again where a purge began and was through meanwhile", async () => {
    expect(await asked(async () => {
      await begin(purge);
      await hidden(purge);
    })).to.equal(2);
  });

  it("are not shown while a purge that began meanwhile is in the middle of things", async () => {
    const refused = await asked(() => begin(purge)).catch((error: unknown) => error);
    expect(refused).to.include({ kind: "unavailable" });
  });
});
