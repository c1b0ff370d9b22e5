import { expect } from "chai";
import fc from "fast-check";
import {
  events, eventsOrdered, eventsSelected, type EventDocument, type EventFilter,
} from "../../../../projections/events/events.ts";
import { labels } from "../../../../projections/events/labels.ts";
import { eventsProjection } from "../../../../projections/events/projection.ts";
import { nearest, type ListPosition } from "../../../../src/features/events/event-totals.ts";
import type { EventStatus } from "../../../../src/features/events/facts.ts";
import { ShownEvents } from "../../../../src/features/events/shown-events.ts";
import { eventIdOf } from "../../../../src/kernel/domain/event-id.ts";
import { timestamp } from "../../../../src/kernel/domain/time.ts";
import type { Change, Document, Query } from "../../../../src/kernel/ports/read-models.ts";
import { idOf } from "../../../support/chronicle.ts";
import { InMemoryReadModels } from "../../../support/in-memory-read-models.ts";
import { position } from "../../../support/position.ts";
import { metadata } from "../../../support/recorded.ts";
import { sized } from "../../../support/size.ts";

interface Accepted {
  readonly ms: number;
  readonly tenantId: string;
  readonly destinationId: string;
  readonly status: EventStatus;
  readonly test: boolean;
}

const [tenantId, other] = [idOf("tenant", 0), idOf("tenant", 1)] as const;
const destinations = [idOf("destination", 0), idOf("destination", 1)] as const;
const statuses = ["Pending", "Processing", "Cancelled"] as const;
/** One second into the last minute of an hour: the moments below lie on both sides of the hour's end. */
const begin = Date.UTC(2026, 0, 15, 9, 59, 1);
const [minuteMs, hourMs] = [60_000, 3_600_000];

/** Some hours, some minutes of each, some moments of each: many beside each other, and gaps. */
const moment = fc
  .tuple(fc.constantFrom(0, 1, 2, 30), fc.constantFrom(0, 1, 17), fc.constantFrom(0, 1, 58_999, 59_000))
  .map(([hours, minutes, ms]) => begin + hours * hourMs + minutes * minuteMs + ms);
const event: fc.Arbitrary<Accepted> = fc.record({
  ms: moment,
  tenantId: fc.constantFrom(tenantId, tenantId, other),
  destinationId: fc.constantFrom(...destinations),
  status: fc.constantFrom(...statuses),
  test: fc.constantFrom(false, false, true),
});
const filters: fc.Arbitrary<EventFilter> = fc.record({
  tenantId: fc.constant(tenantId),
  destinationUrlId: fc.constantFrom(undefined, ...destinations),
  statuses: fc.constantFrom(undefined, ...statuses.map((status) => [status]), ["Pending", "Cancelled"]),
  from: fc.option(moment.map(timestamp), { nil: undefined }),
  to: fc.option(moment.map(timestamp), { nil: undefined }),
  test: fc.constantFrom(undefined, false),
});

function changesOf({ ms, status, test, ...whose }: Accepted, n: number): readonly Change[] {
  const told = eventsProjection.on as unknown as Record<string, (fact: object, place: object) => readonly Change[]>;
  const at = timestamp(ms);
  const eventId = eventIdOf(ms, `0000-0000-${String(n).padStart(12, "0")}`);
  const fact = { ...whose, eventId, idempotencyKey: null, senderId: null, at, ...(test && { test }) };
  const accepted = told["EventAccepted"]!(fact, { position: position(n + 1), metadata });
  if (status === "Pending") return accepted;
  const moved = told["DeliveryAttemptStarted"]!({ ...fact, acceptedAt: at, from: "Pending", to: status }, {});
  return [...accepted, ...moved];
}

class RecordingReadModels extends InMemoryReadModels {
  skipped = 0;

  override find(query: Query): Promise<readonly Document[]> {
    this.skipped = query.offset ?? 0;
    return super.find(query);
  }
}

describe("places in lists of events", () => {
  let models: RecordingReadModels;
  let shown: ShownEvents;

  async function store(given: readonly Accepted[]): Promise<void> {
    models = new RecordingReadModels();
    await models.reset([events, labels], "any");
    await models.amend(given.flatMap(changesOf));
    shown = new ShownEvents({ readModels: models, freshness: undefined!, clock: undefined! });
  }

  async function listed({ filter, offset }: ListPosition, descending: boolean): Promise<readonly string[]> {
    const page = { order: eventsOrdered(descending), offset, limit: 3 };
    return idsOf(await models.find({ ...eventsSelected(filter), ...page }) as unknown as readonly EventDocument[]);
  }

  function idsOf(documents: readonly EventDocument[]): readonly string[] {
    return documents.map(({ id }) => id);
  }

  it("are the same when counters find them, and leave at most two minutes of events to skip", async () => {
    const property = fc.asyncProperty(fc.array(event, { maxLength: 40 }), filters, fc.boolean(), async (...drawn) => {
      const [given, filter, descending] = drawn;
      await store(given);
      const total = await shown.count(filter);
      for (let offset = 0; offset <= total; offset += 1) {
        const place = await nearest(models, { filter, offset }, descending);
        const found = place === null ? [] : await listed(place, descending);
        expect(found).to.deep.equal(await listed({ filter, offset }, descending));
        if (offset === total) continue;
        const edge = Date.parse((descending ? place!.filter.to : place!.filter.from)!);
        expect(place!.offset).to.be.below(given.filter(({ ms }) => Math.abs(ms - edge) < 2 * minuteMs).length);
      }
    });
    await fc.assert(property, { numRuns: sized(200, 5_000) });
  });

  it("are found by counters where they are far from the first", async () => {
    await store(Array.from({ length: 1_200 }, (_, n) => (
      { ms: begin + n * 5_000, tenantId, destinationId: destinations[0], status: "Pending", test: false }
    )));
    for (const descending of [false, true]) {
      for (const [offset, most] of [[999, 999], [1_000, 11], [1_150, 11], [1_200, 11]] as const) {
        models.skipped = 0;
        const page = await shown.page({ tenantId }, { offset, limit: 3, order: { field: events.key, descending } });
        expect(models.skipped).to.be.at.most(most);
        expect(idsOf(page)).to.deep.equal(await listed({ filter: { tenantId }, offset }, descending));
      }
    }
  });
});
