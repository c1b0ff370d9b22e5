import { expect } from "chai";
import fc from "fast-check";
import { planTotal, type TotalPlan } from "../../../projections/events/counters.ts";
import { eventsSelected, type EventFilter } from "../../../projections/events/events.ts";
import { collections, fingerprint, project } from "../../../projections/index.ts";
import { eventIdOf, keyOfEvent } from "../../../src/kernel/domain/event-id.ts";
import { idOf } from "../../support/chronicle.ts";
import { InMemoryReadModels } from "../../support/in-memory-read-models.ts";
import { position } from "../../support/position.ts";
import { recorded } from "../../support/recorded.ts";
import { sized } from "../../support/size.ts";

const hourMs = 3_600_000;
const start = Math.ceil(1_700_000_000_000 / hourMs) * hourMs;
const timestamp = (ms: number) => new Date(ms).toISOString();
const tenantId = idOf("tenant", 0);

async function acceptedAt(times: readonly number[]): Promise<InMemoryReadModels> {
  const models = new InMemoryReadModels();
  await models.reset(collections, fingerprint);
  const batch = times.map((time, n) => ({
    position: position(n + 1),
    changes: project(recorded({
      type: "EventAccepted",
      data: {
        eventId: eventIdOf(time, keyOfEvent(idOf("event", n))),
        tenantId,
        destinationId: idOf("destination", n % 2),
        apiKeyId: idOf("key", 0),
        senderId: null,
        senderRevision: null,
        idempotencyKey: null,
        payload: "{}",
        original: null,
        at: timestamp(time),
      },
    }, n + 1)),
  }));
  await models.apply(batch, position(times.length));
  return models;
}

async function totalOf(models: InMemoryReadModels, { sums, counts }: TotalPlan): Promise<number> {
  let total = 0;
  for (const { scope, from, to } of sums) total += await models.sum(scope, from, to);
  for (const part of counts) total += await models.count(eventsSelected(part));
  return total;
}

describe("totals of events", () => {
  /** Times within three hours, many of them at the edge of a minute or an hour. */
  const moment = fc
    .oneof(
      fc.nat(3 * hourMs),
      fc.tuple(fc.nat(180), fc.integer({ min: -1, max: 1 })).map(([minutes, ms]) => minutes * 60_000 + ms),
      fc.tuple(fc.nat(3), fc.integer({ min: -1, max: 1 })).map(([hours, ms]) => hours * hourMs + ms),
    )
    .map((ms) => start + ms);
  const filter = fc.record(
    {
      tenantId: fc.constantFrom(tenantId, idOf("tenant", 1)),
      statuses: fc.constantFrom(["Pending"], ["Succeeded"], ["Pending", "Succeeded"]),
      destinationUrlId: fc.nat(2).map((n) => idOf("destination", n)),
      from: moment.map(timestamp),
      to: moment.map(timestamp),
    },
    { requiredKeys: ["tenantId"] },
  );

  it("equal the count of single events, with any filter", async () => {
    const times = fc.array(moment, { minLength: 20, maxLength: 80 });
    await fc.assert(
      fc.asyncProperty(times, fc.array(filter, { minLength: 10, maxLength: 20 }), async (accepted, filters) => {
        const models = await acceptedAt(accepted);
        for (const asked of filters as EventFilter[]) {
          expect(await totalOf(models, planTotal(asked))).to.equal(await models.count(eventsSelected(asked)));
        }
      }),
      { numRuns: sized(60, 2_000) },
    );
  });

  it("count single events only in less than two minutes, less than one at either end", () => {
    fc.assert(
      fc.property(filter, (asked) => {
        const lengths = planTotal(asked as EventFilter).counts.map(
          ({ from, to }) => Date.parse(to!) + 1 - Date.parse(from!),
        );
        expect(lengths.length).to.be.at.most(2);
        expect(lengths.reduce((sum, ms) => sum + ms, 0)).to.be.below(120_000);
      }),
      { numRuns: 1_000 },
    );
  });

  it("need a counter without a time filter, and seven for a destination, and as many of test events", () => {
    const sums = [{ scope: `events/${tenantId}/*/*/all` }, { scope: `tests/${tenantId}/*/*/all` }];
    expect(planTotal({ tenantId })).to.deep.equal({ sums, counts: [] });
    expect(planTotal({ tenantId, test: false })).to.deep.equal({ sums: sums.slice(0, 1), counts: [] });
    expect(planTotal({ tenantId, statuses: ["Failed"], test: false }).sums).to.have.length(1);
    expect(planTotal({ tenantId, destinationUrlId: idOf("destination", 0) }).sums).to.have.length(14);
  });
});
