import type { DatabaseSync } from "node:sqlite";
import { expect } from "chai";
import { schemaOf } from "../../../../packages/embedded-engine/src/read-models/columns.ts";
import { openDatabase } from "../../../../packages/embedded-engine/src/read-models/database.ts";
import { Queries } from "../../../../packages/embedded-engine/src/read-models/queries.ts";
import { apiKeys, apiKeySortFields } from "../../../../projections/api-keys/api-keys.ts";
import { auditSelected, type AuditFilter } from "../../../../projections/audit/audit.ts";
import {
  destinations, destinationsSelected, destinationSortFields,
} from "../../../../projections/destinations/destinations.ts";
import { leases, waiting } from "../../../../projections/due/due.ts";
import { planTotal } from "../../../../projections/events/counters.ts";
import { events, eventsOrdered, eventsSelected, type EventFilter } from "../../../../projections/events/events.ts";
import { affectedEvents, incidents, incidentsSelected } from "../../../../projections/incidents/incidents.ts";
import { collections } from "../../../../projections/index.ts";
import { invites, inviteSortFields } from "../../../../projections/invites/invites.ts";
import { candidatesOf, purges, purging, type PurgeDocument, retention } from "../../../../projections/purges/purges.ts";
import { quarantine } from "../../../../projections/quarantine/quarantine.ts";
import { senders, senderSortFields } from "../../../../projections/senders/senders.ts";
import { forgetting, usersSelected, userSortFields } from "../../../../projections/users/users.ts";
import { wrappedKeys } from "../../../../projections/wrapped-keys/wrapped-keys.ts";
import { DueIndex } from "../../../../src/delivery/requests/due-index.ts";
import { matchingIds } from "../../../../src/features/events/matching-ids.ts";
import { keyInventory } from "../../../../src/features/key-rotation/key-rotation.ts";
import type { Metadata } from "../../../../src/kernel/domain/domain-event.ts";
import { eventIdOf } from "../../../../src/kernel/domain/event-id.ts";
import { streams } from "../../../../src/kernel/domain/streams.ts";
import { timestamp } from "../../../../src/kernel/domain/time.ts";
import type { Query, ReadModels, Selection } from "../../../../src/kernel/ports/read-models.ts";
import { pagesOf } from "../../../../src/kernel/read-models/scans.ts";
import { backlogByDestination } from "../../../../src/main/operator/backlog.ts";
import { OrphanedEntries } from "../../../../src/projector/entries.ts";

const tenantId = "00000000-0000-4000-8000-000000000001";
const destinationId = "00000000-0000-4000-8000-000000000002";
const deletedId = "00000000-0000-4000-8000-000000000003";
const now = 1_700_000_000_000;
const at = timestamp(now);

describe("SQLite's query plan", () => {
  let database: DatabaseSync;
  let asked: Set<string>;
  let readModels: ReadModels;

  before(() => {
    database = openDatabase(":memory:", () => undefined);
    for (const definition of collections) for (const sql of schemaOf(definition)) database.exec(sql);
    // Some of each, so that every query finds something to go on with; one destination is deleted.
    for (const [status, ms, destination] of [
      ["Pending", now, destinationId], ["Succeeded", now - 1, destinationId], ["WaitingRetry", now - 2, deletedId],
    ] as const) {
      const columns = "(id, tenantId, destinationUrlId, status, acceptedAt)";
      database.prepare(`INSERT INTO c_events ${columns} VALUES (?, ?, ?, ?, ?)`)
        .run(bytes(eventIdOf(ms, "0000-0000-000000000000")), bytes(tenantId), bytes(destination), status, ms);
    }
    database.prepare("INSERT INTO c_waiting VALUES (?, ?, ?)").run(bytes(tenantId), bytes(destinationId), now);
    database.prepare("INSERT INTO c_destinations (id, tenantId, active, circuit) VALUES (?, ?, TRUE, 'Closed')")
      .run(bytes(destinationId), bytes(tenantId));
  });
  after(() => database.close());

  beforeEach(() => {
    asked = new Set();
    const recording = { prepare: (sql: string) => (asked.add(sql), database.prepare(sql)), isTransaction: true };
    const queries = new Queries(recording as unknown as DatabaseSync);
    const definitionOf = (name: string) => collections.find((one) => one.name === name)!;
    const answers: Pick<ReadModels, "find" | "keys" | "count" | "distinct" | "get" | "sum"> = {
      find: async (query) => queries.find(definitionOf(query.collection), query),
      keys: async (query) => queries.keys(definitionOf(query.collection), query),
      count: async (selection) => queries.count(definitionOf(selection.collection), selection),
      distinct: async (selection, field, options) =>
        queries.distinct(definitionOf(selection.collection), selection, field, options),
      get: async (collection, key) => queries.get(definitionOf(collection), key),
      // Not 0: where events are counted, they are asked for.
      sum: async (scope, from = 0, to = 0) => queries.sum(scope, from, to) + 1,
    };
    readModels = answers as ReadModels;
  });

  function bytes(id: string): Uint8Array {
    return Buffer.from(id.replaceAll("-", ""), "hex");
  }

  /** The steps of SQLite's query plans for all queries so far. */
  function details(): string[] {
    expect(asked.size).to.be.greaterThan(0);
    return [...asked].flatMap((sql) => {
      const values = Array.from(sql.matchAll(/\?/g), () => null);
      return database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...values).map(({ detail }) => String(detail));
    });
  }

  /**
   * The steps of the query plans, each once: the places in a table or an index that SQLite seeks, and all else, such
   * as sorting. Left out are lookups by key, and the steps that merge several ranges into one page.
   */
  function steps(): string[] {
    const merging = /^(CO-ROUTINE|MERGE|LEFT$|RIGHT$|SCAN \(subquery-\d\)$|SEARCH c_\w+ USING PRIMARY KEY \(\w+=\?\)$)/;
    return [...new Set(details().filter((detail) => !merging.test(detail)).map((detail) => detail
      .replace(/^SEARCH (?:c_)?(\w+) USING (?:PRIMARY KEY|(?:COVERING )?INDEX \w+) \((.+)\)$/, "$1: $2")
      .replace(/^SCAN c_(\w+) USING COVERING INDEX \w+$/, "$1: an index from its beginning")))];
  }

  async function find(selection: Selection, field: string): Promise<void> {
    for (const descending of [false, true]) {
      await readModels.find({ ...selection, order: { field, descending }, limit: 20 });
      await readModels.find({ ...selection, order: { field, descending }, limit: 20, offset: 20 });
    }
  }

  const lists: readonly [Selection, readonly string[]][] = [
    ...[undefined, "Active" as const].flatMap((status) =>
      [undefined, "Owner" as const].map((role): [Selection, readonly string[]] =>
        [usersSelected({ tenantId, status, role }), userSortFields])),
    ...[undefined, "Active" as const, "Inactive" as const, "Suspended" as const].map(
      (status): [Selection, readonly string[]] => [destinationsSelected({ tenantId, status }), destinationSortFields]),
    [{ collection: apiKeys.name, where: { tenantId } }, apiKeySortFields],
    [{ collection: invites.name, where: { tenantId } }, inviteSortFields],
    [{ collection: senders.name, where: { tenantId } }, senderSortFields],
    [{ collection: senders.name, where: { tenantId, destinationUrlId: destinationId } }, ["id"]],
    ...[{}, { state: "open" as const }, { destinationUrlId: destinationId }].map((filter): [Selection, string[]] =>
      [incidentsSelected({ tenantId, ...filter }), ["startedAt"]]),
  ];
  for (const [selection, sorts] of lists) {
    const { where: equal = {}, anyOf } = selection;
    const where = [...Object.keys(equal), ...(anyOf ? [anyOf.field] : [])];
    const by = anyOf ? [...where, anyOf.values.map(String).join(" or ")] : where;
    for (const field of sorts) {
      it(`for a list of ${selection.collection} by ${by.join(", ")} in the order of ${field}`, async () => {
        await find(selection, field);
        const [step = "", ...others] = steps();
        expect(step.split(/: | AND /)).to.have.members([selection.collection, ...where.map((one) => `${one}=?`)]);
        expect(others).to.deep.equal([]);
      });
    }
  }

  const anyValue = { id: deletedId, text: "a", number: 1, boolean: true, time: at, json: null, numbers: null } as const;
  for (const [selection, sorts] of lists) {
    const { collection, where = {}, anyOf } = selection;
    const { fields, key } = collections.find(({ name }) => name === collection)!;
    const equal = [...Object.keys(where), ...(anyOf ? [anyOf.field] : [])].map((field) => `${field}=?`);
    const by = [...equal, ...(anyOf?.values.map(String) ?? [])].join(", ");
    for (const field of sorts) {
      it(`for a page of ${collection} by ${by} in the order of ${field} seeks its place`, async () => {
        for (const value of [anyValue[fields[field]!], null]) {
          for (const descending of [false, true]) {
            const after = { value, key: deletedId };
            await readModels.find({ ...selection, order: { field, descending }, after, limit: 20 });
          }
        }
        const behind = (terms: readonly string[]) => `${collection}: ${[...equal, ...terms].sort().join(" AND ")}`;
        const ties = [">?", "<?"].map((end) => [`${field}=?`, key + end]);
        // The documents without a value are the first of all, or the last.
        const others = [[`${field}>?`], [`${field}<?`], [`${field}=?`]];
        const isFixed = field === key || equal.includes(`${field}=?`);
        const wanted = isFixed ? [[`${key}>?`], [`${key}<?`]] : [...ties, ...others];
        const found = steps().map((step) => {
          const [name, terms = ""] = step.split(": ");
          return `${name}: ${terms.split(" AND ").sort().join(" AND ")}`;
        });
        expect(found).to.have.members(wanted.map(behind));
      });
    }
  }

  /** Each filter selects fewer facts than the one before. */
  const auditFilters: readonly Partial<AuditFilter>[] = [
    { type: "TenantRenamed" }, { actorId: deletedId }, { subjectId: destinationId }, { correlationId: "CHG-4711" },
  ];
  for (let set = 0; set < 2 ** auditFilters.length; set += 1) {
    const filters = auditFilters.filter((_, at) => set & (2 ** at));
    const names = filters.flatMap((filter) => Object.keys(filter));
    const by = ["tenant", ...names].join(", ");
    const place = ["tenantId=?", ...names.slice(-1).map((narrowest) => `${narrowest}=?`)].join(" AND ");
    for (const times of [{}, { from: at }, { from: at, to: at }]) {
      const bounds = `${"from" in times ? " AND time>?" : ""}${"to" in times ? " AND time<?" : ""}`;

      it(`for a page and a total of the audit by ${by} begins at ${place}${bounds}`, async () => {
        const filter = filters.reduce((all, one) => ({ ...all, ...one }), {});
        const selection = auditSelected({ tenantId, ...filter, ...times });
        await find(selection, "time");
        await readModels.count(selection);
        expect(steps()).to.deep.equal([`audit: ${place}${bounds}`]);
        // With several filters, rows are looked up by their keys only once they are known to match them all.
        if (names.length > 1) expect(details().filter((one) => / USING INDEX /.test(one))).to.deep.equal([]);
      });
    }
  }

  const walks: readonly [filter: Omit<EventFilter, "tenantId">, places: readonly string[]][] = [
    [{ eventType: "a", tags: [{ name: "b", value: "c" }] }, ["labels: key>? AND key<?"]],
    [{ test: true, from: at, to: at }, ["labels: key>? AND key<?"]],
    [{ ownerId: "a", statuses: ["Pending", "Failed"] },
      ["events: status=? AND tenantId=?", "labels: key>? AND key<?"]],
    [{ senderId: tenantId, destinationUrlId: destinationId },
      ["events: status=? AND destinationUrlId=? AND tenantId=?", "labels: key>? AND key<?"]],
    [{ correlationId: "01890000-0000-7000-8000-000000000001" },
      ["events: status=? AND tenantId=? AND id>? AND id<?", "labels: key>? AND key<?"]],
    [{ correlationId: "CHG-4711" }, ["labels: key>? AND key<?"]],
    [{ statuses: ["Pending", "Failed"] }, ["events: status=? AND tenantId=?"]],
  ];
  for (const [filter, places] of walks) {
    it(`for the ids of events by ${Object.keys(filter).join(", ")} begins at its place in each index`, async () => {
      for (const descending of [false, true]) {
        await Array.fromAsync(matchingIds(readModels, { filter: { tenantId, ...filter }, descending }));
      }
      expect(steps().sort()).to.deep.equal(places);
    });
  }

  for (const destinationUrlId of [undefined, destinationId]) {
    for (const status of [undefined, "Pending" as const]) {
      for (const times of [{}, { from: at }, { to: at }, { from: at, to: at }]) {
        const filter = { tenantId, destinationUrlId, statuses: status && [status], ...times };
        const by = Object.keys(filter).filter((name) => filter[name as keyof typeof filter] !== undefined).join(", ");
        const equal = `status=?${destinationUrlId ? " AND destinationUrlId=?" : ""} AND tenantId=?`;
        const bounds = `${"from" in times ? " AND id>?" : ""}${"to" in times ? " AND id<?" : ""}`;

        it(`for a page of events by ${by} begins at its place in one index`, async () => {
          await find(eventsSelected(filter), eventsOrdered(true).field);
          expect(steps()).to.deep.equal([`events: ${equal}${bounds}`]);
        });

        it(`for a page of events by ${by} looks up none of the skipped events`, async () => {
          const order = eventsOrdered(true);
          await readModels.find({ ...eventsSelected(filter), order, limit: 20, offset: 20 });
          expect(details().filter((detail) => / USING INDEX /.test(detail))).to.deep.equal([]);
        });

        if (bounds === "") continue;
        it(`for a total of events by ${by} counts less than two minutes of them`, async () => {
          for (const part of planTotal(filter).counts) await readModels.count(eventsSelected(part));
          expect(steps()).to.deep.equal([`events: ${equal} AND id>? AND id<?`]);
        });
      }
    }
  }

  it("for a page within a period has no bound but the place at the end where it begins", async () => {
    const within = eventsSelected({ tenantId, from: timestamp(now - 9), to: at });
    const id = eventIdOf(now - 1, "0000-0000-000000000000");
    const after = { value: id, key: id };
    for (const descending of [false, true]) {
      await readModels.find({ ...within, order: eventsOrdered(descending), after, limit: 20 });
    }
    const [up = "", down = ""] = [...asked].filter((sql) => sql.includes("UNION"));
    expect([up, down].map((sql) => [sql.includes('"id" >= ?'), sql.includes('"id" <= ?')]))
      .to.deep.equal([[false, true], [true, false]]);
    expect(steps()).to.deep.equal(["events: status=? AND tenantId=? AND id>? AND id<?"]);
  });

  it("for a purge, and for a replay of many, begins at its place in one index", async () => {
    const purge = { tenantId, before: at, status: null, destinationId } as PurgeDocument;
    for (const selection of candidatesOf(purge)) await everyPage(selection);
    const place = "events: status=? AND destinationUrlId=? AND tenantId=?";
    expect(steps()).to.deep.equal([`${place} AND id<?`, `${place} AND id>? AND id<?`]);
    asked.clear();
    await everyPage(eventsSelected({ tenantId, from: at }));
    expect(steps()).to.deep.equal(["events: status=? AND tenantId=? AND id>?"]);
  });

  /** Reads two pages, so that the second goes on where the first ended. */
  async function everyPage(selection: Selection): Promise<void> {
    for await (const page of pagesOf(readModels, events, { ...selection, size: 1 })) expect(page).to.have.length(1);
  }

  it("for orphaned entries of events only looks up each event", async () => {
    const entries = [tenantId, destinationId].map((eventId, n) => ({
      stream: streams.event(eventId), revision: 1, position: String(n), id: eventId, type: "DeliverySucceeded",
      data: { eventId }, metadata: {} as Metadata,
    }));
    expect(await new OrphanedEntries(readModels).without(entries)).to.deep.equal([]);
    expect(steps()).to.deep.equal([]);
  });

  const wholeTables = [leases, purges, forgetting, retention, quarantine];
  for (const { name: collection, key } of wholeTables) {
    it(`for all ${collection} reads the table in its order`, async () => {
      await readModels.find({ collection, order: { field: key, descending: false }, limit: 20 });
      expect(steps()).to.deep.equal([`SCAN c_${collection}`]);
    });
  }

  const from = tenantId;
  const looks: readonly [string, Query, place: string][] = [
    ["leases of a destination", pageOf(leases, { where: { destinationId } }), "destinationId=?"],
    ["more of them", pageOf(leases, { where: { destinationId }, range: { field: "key", from } }),
      "destinationId=? AND key>?"],
    ["more of all leases", pageOf(leases, { range: { field: "key", from } }), "key>?"],
    ["leases of an event", pageOf(leases, { range: { field: "key", from: `${from}:`, to: `${from};` } }),
      "key>? AND key<?"],
    ["purges of a tenant", pageOf(purges, { where: { tenantId }, range: { field: "id" } }), "tenantId=?"],
    ["purges to go on with", pageOf(purges, { where: { hiding: false, completed: false } }),
      "hiding=? AND completed=?"],
    ["events that a purge took", pageOf(purging, { where: { purgeId: tenantId } }), "purgeId=?"],
    ["more of them", pageOf(purging, { where: { purgeId: tenantId }, range: { field: "eventId", from } }),
      "purgeId=? AND eventId>?"],
    ["tenants that let events go", pageOf(retention, { range: { field: "tenantId", from } }), "tenantId>?"],
    ["invites of a tenant", pageOf(invites, { where: { tenantId }, range: { field: "id", from } }),
      "tenantId=? AND id>?"],
    ["API keys of a tenant", pageOf(apiKeys, { where: { tenantId }, range: { field: "id", from } }),
      "tenantId=? AND id>?"],
    ["affected events of a tenant", pageOf(affectedEvents, { where: { tenantId }, range: { field: "eventId", from } }),
      "tenantId=? AND eventId>?"],
    ["incidents that are not over",
      pageOf(incidents, { anyOf: { field: "state", values: ["begun", "open"] }, range: { field: "id", from } }),
      "state=? AND id>?"],
    ["keys that a master key wraps",
      pageOf(wrappedKeys, { where: { masterKeyId: "a" }, range: { field: "name", from: "b" } }),
      "masterKeyId=? AND name>?"],
  ];
  for (const [title, query, place] of looks) {
    it(`for ${title} by ${place} begins at its place in one index`, async () => {
      await readModels.find(query);
      expect(steps()).to.deep.equal([`${query.collection}: ${place}`]);
    });
  }

  function pageOf(
    { name, key }: { readonly name: string; readonly key: string }, selection: Omit<Selection, "collection">,
  ): Query {
    return { collection: name, ...selection, order: { field: key, descending: false }, limit: 20 };
  }

  const counts: readonly [Selection, place: string][] = [
    [{ collection: destinations.name, where: { active: true, circuit: "Open" } }, "active=? AND circuit=?"],
    [destinationsSelected({ tenantId, status: "Active" }), "tenantId=? AND active=? AND circuit=?"],
  ];
  for (const [selection, place] of counts) {
    it(`for a count of ${selection.collection} by ${place} looks at one index`, async () => {
      await readModels.count(selection);
      expect(steps()).to.deep.equal([`${selection.collection}: ${place}`]);
    });
  }

  it("for a sum of counters seeks those counters", async () => {
    await readModels.sum("a", 1, 2);
    expect(steps()).to.deep.equal(["scopes: name=?", "counters: scope=? AND bucket>? AND bucket<?"]);
  });

  const place = { destinationId, tenantId };
  const pendingOfPlace = "events: status=? AND destinationUrlId=? AND tenantId=?";
  const testsOfPlace = "waitingTests: destinationId=?";
  const retriesOfPlace = "waiting: destinationId=? AND dueAt>? AND dueAt<?";

  it("for a destination's due events begins at one place in one index for each kind", async () => {
    const index = new DueIndex(readModels);
    await index.due(place, at, 64);
    await index.due(place, at, 64, at);
    expect(steps()).to.deep.equal([pendingOfPlace, retriesOfPlace, `${pendingOfPlace} AND id>?`]);
    const ofEvents = details().filter((detail) => detail.includes("c_events"));
    expect(ofEvents).to.have.length(2);
    const looked = ofEvents.filter((detail) => !detail.includes("USING COVERING INDEX"));
    expect(looked, "documents looked at").to.deep.equal([]);
  });

  it("for the probe sorts the retries that are due, where they are not many", async () => {
    await new DueIndex(readModels).oldestDue(place, now, 1);
    expect(steps()).to.have.members([
      pendingOfPlace, testsOfPlace, retriesOfPlace, "USE TEMP B-TREE FOR ORDER BY",
    ]);
  });

  it("for the probe reads many retries in their order, until one is due", async () => {
    const many = "00000000-0000-4000-8000-000000000004";
    database.prepare(
      "WITH RECURSIVE n AS (SELECT 1 UNION ALL SELECT 1 FROM n LIMIT 2000) " +
        "INSERT INTO c_waiting SELECT randomblob(16), ?, ? FROM n",
    ).run(bytes(many), now);
    await new DueIndex(readModels).oldestDue({ destinationId: many, tenantId }, now, 1);
    expect(steps()).to.have.members([pendingOfPlace, testsOfPlace, retriesOfPlace, "waiting: destinationId=?"]);
  });

  it("for the next probe begins behind the one before", async () => {
    await new DueIndex(readModels).oldestDue(place, now, 1, tenantId);
    const next = [`${pendingOfPlace} AND id>?`, testsOfPlace, "waiting: destinationId=? AND eventId>?"];
    expect(steps()).to.have.members(next);
  });

  it("for destinations that let events expire reads only those", async () => {
    await readModels.distinct({ collection: destinations.name }, "expireAfterDays", { after: 0, limit: 365 });
    await readModels.find(pageOf(destinations, { where: { expireAfterDays: 7 } }));
    expect(steps()).to.deep.equal(["destinations: expireAfterDays>?", "destinations: expireAfterDays=?"]);
  });

  it("for destinations that failed for too long reads only those", async () => {
    const [where, order] = [{ active: true, disableAfterDays: 2 }, { field: "failingSince", descending: false }];
    const range = { field: "failingSince", from: at, to: at };
    await readModels.find({ collection: destinations.name, where, range, order, limit: 100 });
    const place = "active=? AND disableAfterDays=? AND failingSince>? AND failingSince<?";
    expect(steps()).to.deep.equal([`destinations: ${place}`]);
  });

  it("for destinations with retries that became due lately sorts only those retries", async () => {
    const index = new DueIndex(readModels);
    await index.destinationsWithRetriesDue(now - 1, now);
    const range = { field: "dueAt", from: at, to: at };
    await readModels.distinct({ collection: waiting.name, range }, "destinationId", { after: destinationId, limit: 9 });
    expect(steps()).to.deep.equal(["waiting: dueAt>? AND dueAt<?", "USE TEMP B-TREE FOR GROUP BY"]);
    asked.clear();
    await index.circuitsDue(now);
    const circuits = "destinations: active=? AND wakeAt>? AND wakeAt<?";
    expect(steps()).to.deep.equal([circuits, "USE TEMP B-TREE FOR GROUP BY"]);
  });

  const nextTenant =
    ["events: status=?", "events: status=? AND tenantId=? AND id>?", "events: status=? AND tenantId>?"];
  const nextRetrier = ["waiting: an index from its beginning", retriesOfPlace, "waiting: destinationId>?"];
  const nextPending = ["events: status=? AND destinationUrlId=?", "events: status=? AND destinationUrlId>?"];

  it("for destinations with any due work goes from one to the next", async () => {
    await new DueIndex(readModels).destinationsWithWorkDue(now);
    expect(steps()).to.have.members([...nextTenant, ...nextRetrier, ...nextPending]);
  });

  it("for the same with a clock that was set back goes from one destination to the next", async () => {
    await new DueIndex(readModels).destinationsWithWorkDue(now - 3_600_000);
    expect(steps()).to.have.members([...nextTenant, ...nextRetrier, "events: status=? AND destinationUrlId>?"]);
  });

  it("for the event that has been due longest looks at each destination once more", async () => {
    await new DueIndex(readModels).longestDue(now);
    expect(steps()).to.have.members([
      ...nextTenant, ...nextRetrier, ...nextPending, pendingOfPlace,
    ]);
  });

  it("for deleted destinations with events to cancel goes from one to the next", async () => {
    await new DueIndex(readModels).deletedDestinations();
    expect(steps()).to.have.members(
      ["waiting: an index from its beginning", "waiting: destinationId>?"]);
  });

  it("for the backlog goes from one destination to the next, and looks at one event of each", async () => {
    await backlogByDestination(readModels);
    expect(steps()).to.have.members([
      "events: status=?", "events: status=? AND destinationUrlId>?", pendingOfPlace,
      "events: status=? AND destinationUrlId=?", "events: status=? AND destinationUrlId=? AND tenantId>?",
      "waiting: destinationId=?", "scopes: name=?", "counters: scope=? AND bucket>? AND bucket<?",
    ]);
  });

  it("for the keys that master keys wrap looks at one index", async () => {
    await keyInventory(readModels, { masterKeyIds: ["a"] });
    expect(steps()).to.have.members(
      ["wrappedKeys: an index from its beginning", "wrappedKeys: masterKeyId=?"]);
  });
});
