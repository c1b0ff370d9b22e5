import { expect } from "chai";
import fc from "fast-check";
import type { EventFilter } from "../../../../projections/events/events.ts";
import { collections, fingerprint, project } from "../../../../projections/index.ts";
import { eventStatuses, type Moved, type Webhook, isFinished } from "../../../../src/features/events/facts.ts";
import { ShownEvents } from "../../../../src/features/events/shown-events.ts";
import { Purges } from "../../../../src/projector/purges.ts";
import { idOf } from "../../../support/chronicle.ts";
import { histories, type History } from "../../../support/histories.ts";
import { InMemoryReadModels } from "../../../support/in-memory-read-models.ts";
import { position } from "../../../support/position.ts";
import { recorded } from "../../../support/recorded.ts";
import { sized } from "../../../support/size.ts";

/** An event, the id of the request that brought it, the time of its end, and the replays that sent it. */
type Event = Webhook & Traces;

interface Traces {
  readonly correlationId: string;
  readonly finishedAt: string | null;
  readonly replayIds: readonly string[];
}

const purgeId = idOf("purge", 0);
/** A request's id of version 7 that was made so many milliseconds before 2023-11-14T22:13:20Z. */
const timed = (before: number) => {
  const time = (1_700_000_000_000 - before).toString(16).padStart(12, "0");
  return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-000000000000`;
};
const correlationIds = ["CHG-4711", timed(1), timed(2_000_000)];

/** The request of an accepted event: every other one brings an id that was made just before. */
function correlationIdOf(at: string, n: number): string {
  if (n % 2 === 0) return correlationIds[n % correlationIds.length]!;
  return timed(1_700_000_000_000 - Date.parse(at) + (n % 3) * 400);
}

/** Read models of a history, and its events; of the finished ones, a purge at the end takes those of a tenant. */
async function foundIn(history: History, purged: boolean): Promise<{
  readonly shown: ShownEvents; readonly events: readonly Event[];
}> {
  const models = new InMemoryReadModels();
  await models.reset(collections, fingerprint);
  const traces = new Map<string, Traces>();
  for (const [n, { fact }] of history.told.entries()) {
    const { metadata, ...entry } = recorded(fact, n + 1);
    const correlationId = correlationIdOf(metadata.at, n);
    const replayId = fact.type === "EventReplayed" && n % 3 < 2 ? { replayId: idOf("replay", n % 2) } : {};
    const { eventId, from, to, at } = fact.data as Partial<Moved>;
    if (fact.type === "EventAccepted") traces.set(eventId!, { correlationId, finishedAt: null, replayIds: [] });
    const before = traces.get(eventId ?? "");
    if (before && to !== undefined && from !== to) {
      const replayIds = [...before.replayIds, ...Object.values(replayId)];
      traces.set(eventId!, { ...before, finishedAt: isFinished(to) ? at! : null, replayIds });
    }
    const data = { ...entry.data, ...replayId };
    const changes = project({ ...entry, data, metadata: { ...metadata, correlationId } });
    await models.apply([{ position: entry.position, changes }], entry.position);
  }
  const all = [...history.webhooks.values()].map((event) => ({ ...event, ...traces.get(event.id)! }));
  const tenantId = idOf("tenant", 0);
  if (purged) {
    const place = position(history.told.length + 1);
    const data = { purgeId, tenantId, before: null, status: null, destinationId: null, upTo: null };
    const fact = recorded({ type: "EventsPurged", data: { ...data, matched: 0, earlier: [], at: history.at } }, 0);
    await models.apply([{ position: place, changes: project({ ...fact, position: place }) }], place);
    const purges = new Purges({ readModels: models, isQuarantined: () => false });
    await purges.load();
    while (purges.pending) await purges.step();
    const labels = Object.keys(models.contents().documents["labels"]!);
    const gone = all.filter((event) => event.tenantId === tenantId && isFinished(event.status));
    expect(labels.filter((key) => gone.some(({ id }) => key.endsWith(id)))).to.deep.equal([]);
    for (const name of ["lateFinishes", "replayedEvents"]) {
      const left = Object.values(models.contents().documents[name]!).map((document) => document["eventId"]);
      expect(left.filter((eventId) => gone.some(({ id }) => eventId === id)), name).to.deep.equal([]);
    }
  }
  return {
    shown: new ShownEvents({ readModels: models, freshness: undefined!, clock: undefined! }),
    events: all.filter((event) => !purged || event.tenantId !== tenantId || !isFinished(event.status)),
  };
}

/** Whether an event matches a filter, as the API's contract says it. */
function matches(filter: EventFilter, event: Event): boolean {
  const { statuses, destinationUrlId, messageId, tags, from, to, ...further } = filter;
  const { finishedFrom, finishedTo, replayId, destinationUrlIds, ...others } = further;
  const { finishedAt } = event;
  const same = Object.entries(others).every(([name, value]) =>
    value === undefined || event[name as keyof typeof others] === value);
  return same && messageId === undefined
    && (statuses?.includes(event.status) ?? true)
    && (destinationUrlId === undefined || event.destinationId === destinationUrlId)
    && (destinationUrlIds?.includes(event.destinationId) ?? true)
    && (tags ?? []).every(({ name, value }) => event.tags?.[name] === value)
    && (finishedFrom === undefined || (finishedAt !== null && finishedAt >= finishedFrom))
    && (finishedTo === undefined || (finishedAt !== null && finishedAt <= finishedTo))
    && (replayId === undefined || event.replayIds.includes(replayId))
    && (from === undefined || event.acceptedAt >= from) && (to === undefined || event.acceptedAt <= to);
}

const moment = fc.nat(400_000_000).map((ms) => new Date(1_700_000_000_000 + ms).toISOString());
const tag = fc.constantFrom(
  { name: "order", value: "7" }, { name: "region", value: "eu" }, { name: "region", value: "us" });
const filter = fc.record(
  {
    tenantId: fc.nat(1).map((n) => idOf("tenant", n)),
    statuses: fc.uniqueArray(fc.constantFrom(...eventStatuses), { minLength: 1, maxLength: 3 }),
    destinationUrlId: fc.nat(2).map((n) => idOf("destination", n)),
    destinationUrlIds: fc.uniqueArray(fc.nat(2).map((n) => idOf("destination", n)), { maxLength: 2 }),
    senderId: fc.nat(4).map((n) => idOf("sender", n % 4 ? 0 : 1)),
    eventType: fc.constantFrom("order.paid", "order.paid", "order"),
    ownerId: fc.constantFrom("customer", "customer", "Customer"),
    messageId: fc.constant(idOf("message", 0)),
    tags: fc.array(tag, { minLength: 1, maxLength: 2 }),
    correlationId: fc.constantFrom(...correlationIds),
    test: fc.boolean(),
    from: moment,
    to: moment,
    finishedFrom: moment,
    finishedTo: moment,
    replayId: fc.nat(1).map((n) => idOf("replay", n)),
  },
  { requiredKeys: ["tenantId"] },
) as fc.Arbitrary<EventFilter>;
/** Few conditions together, so that events match. */
const filters = fc.array(fc.tuple(filter, fc.subarray(Object.keys({
  statuses: 1, destinationUrlId: 1, senderId: 1, eventType: 1, ownerId: 1, messageId: 1, tags: 1, correlationId: 1,
  test: 1, from: 1, to: 1, finishedFrom: 1, finishedTo: 1, replayId: 1,
}), { maxLength: 3 })).map(([drawn, kept]) => Object.fromEntries(
  Object.entries(drawn).filter(([name]) => name === "tenantId" || kept.includes(name)),
) as unknown as EventFilter), { minLength: 20, maxLength: 20 });

describe("events found by a filter", () => {
  const runs = { numRuns: sized(60, 2_000), endOnFailure: true };

  it("are the same as in a fold of the log: listed, counted and walked, also after a purge", async () => {
    await fc.assert(
      fc.asyncProperty(histories(200), filters, fc.boolean(), async (history, asked, purged) => {
        const { shown, events } = await foundIn(history, purged);
        for (const each of asked) {
          const ids = events.filter((event) => matches(each, event)).map(({ id }) => id).sort();
          const what = JSON.stringify(each);
          expect(await shown.count(each), what).to.equal(ids.length);
          for (const descending of [false, true]) {
            const order = descending ? ids.toReversed() : ids;
            expect((await Array.fromAsync(shown.ids(each, { descending }))).flat(), what).to.deep.equal(order);
            const page = async (slice: object) => (await shown.page(each,
              { order: { field: "id", descending }, limit: 2, ...slice })).map(({ id }) => id);
            for (let offset = 0; offset <= ids.length; offset += 1) {
              expect(await page({ offset }), what).to.deep.equal(order.slice(offset, offset + 2));
              const after = order[offset];
              if (after === undefined) continue;
              const behind = await page({ after: { value: after, key: after } });
              expect(behind, `${what} ${after}`).to.deep.equal(order.slice(offset + 1, offset + 3));
            }
          }
        }
      }),
      runs,
    );
  });

  it("are found within pages of many events, by conditions that few or many of them meet", async () => {
    const models = new InMemoryReadModels();
    await models.reset(collections, fingerprint);
    const total = 5_000;
    const events = Array.from({ length: total }, (_, n) => ({
      n, id: `018bcfe5-${n.toString(16).padStart(4, "0")}-4000-8000-000000000000`,
      tags: { even: String(n % 2), rare: String(n % 1_999), half: n < total / 2 ? "first" : "second" },
    }));
    const changes = events.flatMap(({ n, id, tags }) => project(recorded({
      type: "EventAccepted",
      data: {
        eventId: id, tenantId: idOf("tenant", 0), destinationId: idOf("destination", 0), apiKeyId: idOf("key", 0),
        senderId: null, senderRevision: null, idempotencyKey: null, payload: "{}", original: null, tags,
        at: "2023-11-14T22:13:20.000Z",
      },
    }, n + 1)));
    await models.amend(changes);
    const shown = new ShownEvents({ readModels: models, freshness: undefined!, clock: undefined! });
    let asked = 0;
    const keys = models.keys.bind(models);
    models.keys = (query) => {
      asked += 1;
      return keys(query);
    };
    const look = async (tags: Record<string, string>) => {
      asked = 0;
      const wanted = Object.entries(tags).map(([name, value]) => ({ name, value }));
      const filter = { tenantId: idOf("tenant", 0), tags: wanted };
      const expected = events.filter((event) =>
        Object.entries(tags).every(([name, value]) => event.tags[name as "even"] === value)).map(({ id }) => id);
      for (const descending of [false, true]) {
        const found = (await Array.fromAsync(shown.ids(filter, { descending }))).flat();
        expect(found, JSON.stringify(tags)).to.deep.equal(descending ? expected.toReversed() : expected);
      }
      return asked / 2;
    };
    await look({ even: "1" });
    await look({ even: "1", half: "second" });
    expect(await look({ rare: "7", half: "second" }), "pages of a rare tag").to.be.at.most(8);
    expect(await look({ half: "first", rare: "3998" }), "pages of a tag that no event has").to.be.at.most(2);
    await look({ even: "0", half: "first", rare: "1998" });
  });
});
