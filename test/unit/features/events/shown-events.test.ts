import { expect } from "chai";
import { counted, moved } from "../../../../projections/events/counters.ts";
import { events } from "../../../../projections/events/events.ts";
import { purges } from "../../../../projections/purges/purges.ts";
import { ShownEvents } from "../../../../src/features/events/shown-events.ts";
import { logStart, type EventLog, type Position } from "../../../../src/kernel/ports/event-store.ts";
import { Freshness } from "../../../../src/kernel/read-models/freshness.ts";
import { idOf } from "../../../support/chronicle.ts";
import { InMemoryReadModels } from "../../../support/in-memory-read-models.ts";
import { ManualClock } from "../../../support/manual-clock.ts";
import { position } from "../../../support/position.ts";

const [tenantId, other] = [idOf("tenant", 0), idOf("tenant", 1)] as const;
const [earlier, purge] = [idOf("purge", 0), idOf("purge", 1)] as const;

describe("events as they are shown", () => {
  let models: InMemoryReadModels;
  let clock: ManualClock;

  beforeEach(async () => {
    models = new InMemoryReadModels();
    await models.reset([purges, events], "any");
    clock = new ManualClock();
  });

  const begin = (id: string, of = tenantId) => {
    const document = {
      id, tenantId: of, before: null, status: null, destinationId: null, position: "", upTo: "", hiding: true,
      completed: false,
    };
    return models.amend([{ op: "put", collection: purges.name, key: id, document }]);
  };
  const hidden = (id: string) =>
    models.amend([{ op: "set", collection: purges.name, key: id, fields: { hiding: false } }]);

  const unawaited = { ask: (question: (head: Position) => unknown) => question(logStart) } as unknown as Freshness;
  /** Lets time pass until an answer has come, and returns it. */
  const inTime = async <Answer>(answer: Promise<Answer>) => {
    const over = answer.then(() => true, () => true);
    const turn = () => new Promise<false>((resolve) => setImmediate(() => resolve(false)));
    while (!(await Promise.race([over, turn()]))) clock.advance(20);
    return answer;
  };

  /** How often a question was asked, where something happens while it is asked for the first time. */
  const asked = async (meanwhile: () => Promise<void>, freshness = unawaited) => {
    const shown = new ShownEvents({ readModels: models, freshness, clock });
    let times = 0;
    return inTime(shown.ask(tenantId, async () => {
      times += 1;
      if (times === 1) await meanwhile();
      return times;
    }));
  };

  it("are asked about once without purges, and once a purge has hidden its events", async () => {
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

  it("are asked about again where rebuilt read models went through an old purge again", async () => {
    const rebuilt = { ask: (question: () => unknown) => begin(purge).then(question) } as unknown as Freshness;
    const through = () => models.amend([{ op: "remove", collection: purges.name, key: purge }]);
    expect(await asked(through, rebuilt)).to.equal(2);
  });

  it("are refused while a purge that began meanwhile is hiding its events", async () => {
    const refused = await asked(() => begin(purge)).catch((error: unknown) => error);
    expect(refused).to.include({ kind: "unavailable" });
  });

  describe("of read models that are lost meanwhile", () => {
    const log = { head: async () => position(1) } as unknown as EventLog;
    const event = {
      position: position(1),
      changes: counted(tenantId, idOf("destination", 0), "2026-01-15T09:30:00.000Z"),
    };
    const build = () => models.apply([event], position(1));
    const lose = async () => {
      await models.reset([purges, events], "any");
      clock.schedule(100, () => void build());
    };

    it("are asked about again once these are built again", async () => {
      await build();
      expect(await asked(lose, new Freshness(log, models, clock))).to.equal(2);
    });

    it("are counted again where these are lost between the reading of their checkpoint and the count", async () => {
      await build();
      const checkpoint = models.checkpoint.bind(models);
      let looks = 0;
      models.checkpoint = async () => {
        looks += 1;
        if (looks === 1) await lose();
        return checkpoint();
      };
      const shown = new ShownEvents({ readModels: models, freshness: new Freshness(log, models, clock), clock });
      const { count } = await inTime(shown.countUpTo(tenantId, [{ tenantId }]));
      expect(count).to.equal(1);
    });
  });

  describe("counted up to a place in the log", () => {
    const destinationId = idOf("destination", 0);
    const acceptedAt = "2026-01-15T09:30:00.000Z";
    const filters = (["Succeeded", "Cancelled"] as const).map((status) => ({ tenantId, statuses: [status] }));
    let place = 0;
    beforeEach(() => {
      place = 0;
    });
    /** Another event is there, and finished. */
    const finish = (to: "Succeeded" | "Cancelled") => {
      place += 1;
      const move = { tenantId, destinationId, acceptedAt, from: "Pending", to } as const;
      const changes = [...counted(tenantId, destinationId, acceptedAt), ...moved(move)];
      return models.apply([{ position: position(place), changes }], position(place));
    };
    const count = () => inTime(new ShownEvents({ readModels: models, freshness: unawaited, clock })
      .countUpTo(tenantId, filters));
    /** Runs a task between the sums, so many times. */
    const betweenSums = (times: number, task: () => Promise<void>) => {
      const sum = models.sum.bind(models);
      let left = times;
      models.sum = async (...asked) => {
        const answer = await sum(...asked);
        left -= 1;
        if (left >= 0) await task();
        return answer;
      };
    };

    it("are those of all filters", async () => {
      await finish("Succeeded");
      await finish("Cancelled");
      expect(await count()).to.deep.equal({ count: 2, upTo: position(2) });
    });

    it("are counted again where other events ended in between", async () => {
      await finish("Succeeded");
      betweenSums(3, () => finish("Cancelled"));
      expect(await count()).to.deep.equal({ count: 4, upTo: position(4) });
    });

    it("are returned after 2 s where the read models never stand still, with the last known place", async () => {
      const begun = clock.monotonic();
      betweenSums(Infinity, () => finish("Cancelled"));
      const { count: told, upTo } = await count();
      expect(clock.monotonic() - begun).to.be.within(2_000, 2_100);
      expect(told).to.be.at.least(Number(upTo)).and.at.most(place);
    });

    it("are refused while a purge is hiding its events", async () => {
      await begin(purge);
      expect(await count().catch((error: unknown) => error)).to.include({ kind: "unavailable" });
    });
  });
});
