import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import fc from "fast-check";
import { SqliteReadModels } from "../../../../packages/embedded-engine/src/index.ts";
import { collections, fingerprint } from "../../../../projections/index.ts";
import { DueIndex } from "../../../../src/delivery/requests/due-index.ts";
import { SystemClock } from "../../../../src/engines/system/system-clock.ts";
import { eventIdOf, keyOfEvent } from "../../../../src/kernel/domain/event-id.ts";
import { streams } from "../../../../src/kernel/domain/streams.ts";
import { timestamp } from "../../../../src/kernel/domain/time.ts";
import type { Change, ReadModels } from "../../../../src/kernel/ports/read-models.ts";
import { idOf } from "../../../support/chronicle.ts";
import { sized } from "../../../support/size.ts";

const start = 1_700_000_000_000;
const tenants = [idOf("tenant", 0), idOf("tenant", 1)];
/** Two of the first tenant, one of the other. */
const places = [0, 1, 2].map((n) => ({ destinationId: idOf("destination", n), tenantId: tenants[n >> 1] ?? "" }));

/** An event as the test knows it; times in ms from the start, `dueMs` where it waits for a retry. */
interface Known {
  readonly id: string;
  readonly place: (typeof places)[number];
  readonly status: string;
  readonly acceptedMs: number;
  readonly dueMs: number;
}

function changesOf({ id, place, status, acceptedMs, dueMs }: Known): Change[] {
  const acceptedAt = timestamp(start + acceptedMs);
  const dueAt = timestamp(start + dueMs);
  const { destinationId, tenantId } = place;
  const document = {
    id, tenantId, destinationUrlId: destinationId, status, idempotencyKey: null, currentRetryCount: 0,
    nextAttemptAt: dueAt, acceptedAt, deliveredAt: null, finishedIn: null, finishedAt: null,
  };
  const event: Change = { op: "put", collection: "events", key: id, document };
  const waiting = { eventId: id, destinationId, dueAt };
  return status === "WaitingRetry"
    ? [event, { op: "put", collection: "waiting", key: id, document: waiting }]
    : [event];
}

function destination({ destinationId, tenantId }: Known["place"], state: object): Change {
  const document = {
    id: destinationId, tenantId, url: "https://receiver.example/", serverRateLimit: 5, authType: null, active: true,
    circuit: "Closed", openUntil: null, wakeAt: null,
    createdAt: timestamp(start), updatedAt: timestamp(start), ...state,
  };
  return { op: "put", collection: "destinations", key: destinationId, document };
}

describe("the due index", () => {
  let folder: string;
  let models: SqliteReadModels;
  let index: DueIndex;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "due-index-"));
    models = new SqliteReadModels(join(folder, "read-models.db"), new SystemClock());
    index = new DueIndex(models);
  });
  afterEach(async () => {
    await models.close();
    rmSync(folder, { recursive: true, force: true });
  });

  async function hold(events: readonly Known[]): Promise<void> {
    await models.reset(collections, fingerprint);
    await models.amend([...places.map((place) => destination(place, {})), ...events.flatMap(changesOf)]);
  }

  const oneEvent = fc.record({
    place: fc.constantFrom(...places),
    status: fc.constantFrom("Pending", "Pending", "WaitingRetry", "WaitingRetry", "Processing", "Succeeded"),
    acceptedMs: fc.nat(6),
    dueMs: fc.nat(12),
  });
  const someEvents = fc.array(oneEvent, { maxLength: 30 }).map((all) =>
    all.map((one, n): Known => ({ ...one, id: eventIdOf(start + one.acceptedMs, keyOfEvent(idOf("event", n))) })));
  const inOrder = (a: string, b: string) => (a < b ? -1 : 1);
  const sinceOf = ({ status, acceptedMs, dueMs }: Known) =>
    timestamp(start + (status === "Pending" ? acceptedMs : dueMs));

  /** The events of a destination that are due by a moment. */
  function dueOf(events: readonly Known[], place: Known["place"], by: number): readonly Known[] {
    return events.filter((event) => event.place === place &&
      (event.status === "Pending" || (event.status === "WaitingRetry" && event.dueMs <= by)));
  }

  it("lists Pending events and retries together, longest due first, in any range", async () => {
    const asked = fc.record({ until: fc.nat(13), limit: fc.integer({ min: 1, max: 9 }), from: fc.option(fc.nat(13)) });
    await fc.assert(
      fc.asyncProperty(someEvents, fc.array(asked, { minLength: 6, maxLength: 6 }), async (events, questions) => {
        await hold(events);
        for (const place of places) {
          for (const { until, limit, from } of questions) {
            const since = from === null ? undefined : timestamp(start + from);
            const expected = dueOf(events, place, until)
              .map((event) => ({ eventId: event.id, dueAt: sinceOf(event) }))
              .filter(({ dueAt }) => since === undefined || dueAt >= since)
              .sort((a, b) => inOrder(a.dueAt + a.eventId, b.dueAt + b.eventId));
            expect(await index.due(place, timestamp(start + until), limit, since)).to.deep.equal(
              expected.slice(0, limit));
          }
        }
      }),
      { numRuns: sized(60, 2_000) },
    );
  });

  it("gives the events accepted first among those due, of all or after a given one", async () => {
    const limits = fc.integer({ min: 1, max: 9 });
    await fc.assert(
      fc.asyncProperty(someEvents, fc.nat(13), limits, fc.option(fc.nat(29)), async (events, now, limit, nth) => {
        await hold(events);
        const after = events[nth ?? events.length]?.id;
        for (const place of places) {
          const due = dueOf(events, place, now).map(({ id }) => id).sort();
          const expected = due.filter((id) => after === undefined || id > after).slice(0, limit);
          expect(await index.oldestDue(place, start + now, limit, after)).to.deep.equal(expected);
        }
      }),
      { numRuns: sized(60, 2_000) },
    );
  });

  it("knows the destinations with due work, those whose retries became due, and the longest due time", async () => {
    await fc.assert(
      fc.asyncProperty(someEvents, fc.nat(13), fc.nat(13), async (events, after, until) => {
        await hold(events);
        const those = (isMeant: (event: Known) => boolean) =>
          new Set(events.filter(isMeant).map(({ place }) => place.destinationId));
        const isDue = (event: Known) =>
          ["Pending", "WaitingRetry"].includes(event.status) && sinceOf(event) <= timestamp(start + until);
        expect(await index.destinationsWithWorkDue(start + until)).to.deep.equal(those(isDue));
        expect(await index.destinationsWithRetriesDue(start + after, start + until)).to.deep.equal(
          those(({ status, dueMs }) => status === "WaitingRetry" && dueMs > after && dueMs <= until));
        const lookedAt = places.filter((place) => events.some((event) => event.place === place && isDue(event)));
        // A Pending event is due since its last replay.
        const times = lookedAt.flatMap((place) => {
          const those = (status: string) => dueOf(events, place, until).filter((one) => one.status === status);
          const pending = those("Pending").sort((a, b) => inOrder(a.id, b.id));
          return [...pending.slice(0, 1), ...those("WaitingRetry")];
        }).map(({ dueMs }) => timestamp(start + dueMs)).sort();
        expect(await index.longestDue(start + until)).to.equal(times[0] ?? null);
      }),
      { numRuns: sized(60, 2_000) },
    );
  });

  it("waits until it covers a place in the log, and throws where that takes too long", async () => {
    await hold([]);
    await models.apply([], "2");
    await index.cover("2");
    const behind = { caughtUp: async () => false } as unknown as ReadModels;
    const refused = await new DueIndex(behind).cover("3").catch((error: unknown) => error);
    expect(refused).to.be.an("error").with.property("message", "the due index is behind");
  });

  it("hides nothing where a clock was set back", async () => {
    const [place] = places as [Known["place"]];
    const id = eventIdOf(start, keyOfEvent(idOf("event", 0)));
    await hold([{ id, place, status: "Pending", acceptedMs: 0, dueMs: 0 }]);
    const hourAgo = start - 3_600_000;
    expect(await index.destinationsWithWorkDue(hourAgo)).to.deep.equal(new Set([place.destinationId]));
    expect(await index.due(place, timestamp(hourAgo), 9)).to.have.length(1);
    expect(await index.destinationsWithWorkDue(start - 1), "on its way through the queue").to.deep.equal(new Set());
  });

  it("leaves events of Inactive and Suspended destinations out of the longest due time", async () => {
    const events = places.map((place, n): Known =>
      ({ id: eventIdOf(start + n, keyOfEvent(idOf("event", n))), place, status: "Pending", acceptedMs: n, dueMs: n }));
    await hold(events);
    const [one, two] = places as [Known["place"], Known["place"]];
    await models.amend([destination(one, { active: false }), destination(two, { circuit: "Open" })]);
    expect(await index.longestDue(start + 9)).to.equal(timestamp(start + 2));
  });

  it("looks for the longest due time with few queries at once, so that others get answers", async () => {
    const known = Array.from({ length: 100 }, (_, n): Known => {
      const place = { ...places[0] as Known["place"], destinationId: idOf("many", n) };
      const id = eventIdOf(start + n, keyOfEvent(idOf("event", n)));
      return { id, place, status: "Pending", acceptedMs: n, dueMs: n };
    });
    await hold(known);
    await models.amend(known.map(({ place }) => destination(place, {})));
    let underWay = 0;
    let most = 0;
    const get = async (collection: string, key: string) => {
      most = Math.max(most, underWay += 1);
      await new Promise(setImmediate);
      underWay -= 1;
      return models.get(collection, key);
    };
    const asked = { get, find: models.find.bind(models), distinct: models.distinct.bind(models) };
    expect(await new DueIndex(asked as unknown as ReadModels).longestDue(start + 99)).to.equal(timestamp(start));
    expect(most).to.be.within(1, 10);
  });

  it("finds every circuit that is due, but for those of Inactive destinations", async () => {
    const [place] = places as [Known["place"]];
    await hold([]);
    const dueAt = { circuit: "Open", wakeAt: timestamp(start) };
    const several = (kind: string, state: object) => Array.from({ length: 1_200 }, (_, n) =>
      destination({ ...place, destinationId: idOf(kind, n) }, state));
    await models.amend([
      ...several("Inactive", { ...dueAt, active: false }), ...several("due", dueAt),
      ...several("later", { ...dueAt, wakeAt: timestamp(start + 1) }), ...several("closed", {}),
    ]);
    const due = await index.circuitsDue(start);
    expect(new Set(due)).to.deep.equal(new Set(Array.from({ length: 1_200 }, (_, n) => idOf("due", n))));
  });

  it("names deleted destinations of which events wait, due or not", async () => {
    const [gone, idle, there] = places as [Known["place"], Known["place"], Known["place"]];
    const events = ([[gone, "WaitingRetry"], [idle, "Succeeded"], [there, "WaitingRetry"]] as const).map(
      ([place, status], n): Known => ({
        id: eventIdOf(start, keyOfEvent(idOf("event", n))), place, status, acceptedMs: 0, dueMs: 86_400_000,
      }));
    await hold(events);
    expect(await index.deletedDestinations()).to.deep.equal([]);
    const removed = [gone, idle].map(({ destinationId }) => destinationId);
    await models.amend(removed.map((key) => ({ op: "remove", collection: "destinations", key })));
    expect(await index.deletedDestinations()).to.deep.equal([gone.destinationId]);
  });

  it("asks about no more destinations after a failed query", async () => {
    await hold(Array.from({ length: 100 }, (_, n): Known => ({
      id: eventIdOf(start, keyOfEvent(idOf("event", n))), place: { ...places[0]!, destinationId: idOf("many", n) },
      status: "WaitingRetry", acceptedMs: 0, dueMs: 0,
    })));
    let asked = 0;
    const failing = {
      distinct: models.distinct.bind(models),
      get: async () => {
        asked += 1;
        throw new Error("no answer");
      },
    } as unknown as ReadModels;
    for (const ask of ["deletedDestinations", "longestDue"] as const) {
      asked = 0;
      const problem = await new DueIndex(failing)[ask](start + 1).then(() => null, (error: unknown) => error);
      expect(problem).to.be.an("error");
      await new Promise(setImmediate);
      expect(asked).to.be.within(1, 8);
    }
  });

  it("leaves quarantined events out of the longest due time", async () => {
    const [place] = places as [Known["place"]];
    const events = [0, 1].map((n): Known => ({
      id: eventIdOf(start + n, keyOfEvent(idOf("event", n))), place, status: "Pending", acceptedMs: n, dueMs: n,
    }));
    await hold(events);
    const [first] = events as [Known];
    const stream = streams.event(first.id);
    await models.amend([
      {
        op: "put", collection: "quarantine", key: stream,
        document: { stream, revision: 1, type: "Odd", reason: "odd" },
      },
    ]);
    expect(await index.longestDue(start + 1)).to.equal(timestamp(start + 1));
  });
});
