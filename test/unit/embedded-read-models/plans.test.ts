import { expect } from "chai";
import { DatabaseSync } from "node:sqlite";
import { eventsOrdered, eventsSelected } from "../../../projections/events/events.ts";
import { planTotal } from "../../../projections/events/totals.ts";
import { collections } from "../../../projections/index.ts";
import { candidatesOf, type PurgeDocument } from "../../../projections/purges/purges.ts";
import { schemaOf } from "../../../src/adapters/embedded-read-models/columns.ts";
import { Queries } from "../../../src/adapters/embedded-read-models/queries.ts";
import { DueIndex } from "../../../src/application/delivery/due-index.ts";
import { pagesByKey } from "../../../src/application/pages.ts";
import { eventIdOf } from "../../../src/domain/event/event-id.ts";
import { timestamp } from "../../../src/domain/time.ts";
import type { ReadModels } from "../../../src/ports/read-models.ts";

const tenantId = "00000000-0000-4000-8000-000000000001";
const destinationId = "00000000-0000-4000-8000-000000000002";
const now = 1_700_000_000_000;
const at = timestamp(now);

/** What SQLite does for a statement, a line for each step. */
function planOf(database: DatabaseSync, sql: string): string[] {
  const values = Array.from(sql.matchAll(/\?/g), () => null);
  const steps = database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...values);
  return steps.map(({ detail }) => String(detail));
}

describe("what SQLite does", () => {
  let database: DatabaseSync;
  let asked: Set<string>;
  let readModels: Pick<ReadModels, "find" | "count" | "distinct" | "get">;

  before(() => {
    database = new DatabaseSync(":memory:");
    for (const definition of collections) for (const sql of schemaOf(definition)) database.exec(sql);
    // One of each, so that every look finds something to go on with.
    database.prepare("INSERT INTO c_events (id, tenantId, destinationUrlId, status, acceptedAt) VALUES (?, ?, ?, ?, ?)")
      .run(bytes(eventIdOf(now, "0000-0000-000000000000")), bytes(tenantId), bytes(destinationId), "Pending", now);
    database.prepare("INSERT INTO c_waiting VALUES (?, ?, ?)").run(bytes(tenantId), bytes(destinationId), now);
  });
  after(() => database.close());

  beforeEach(() => {
    asked = new Set();
    const recording = { prepare: (sql: string) => (asked.add(sql), database.prepare(sql)) };
    const queries = new Queries(recording as unknown as DatabaseSync);
    const definitionOf = (name: string) => collections.find((one) => one.name === name)!;
    readModels = {
      find: async (query) => queries.find(definitionOf(query.collection), query),
      count: async (selection) => queries.count(definitionOf(selection.collection), selection),
      distinct: async (selection, field, options) =>
        queries.distinct(definitionOf(selection.collection), selection, field, options),
      get: async (collection, key) => queries.get(definitionOf(collection), key),
    };
  });

  function bytes(id: string): Uint8Array {
    return Buffer.from(id.replaceAll("-", ""), "hex");
  }

  /**
   * Every step goes to a place in an index, which says so much of each entry. Nothing is sorted but what became due in
   * a while, or at once.
   */
  function goesToItsPlace(least: RegExp): void {
    expect(asked.size).to.be.greaterThan(0);
    for (const sql of asked) {
      const steps = planOf(database, sql);
      // The first of all is where an index begins.
      const scan = sql.endsWith("IS NOT ? ORDER BY 1 LIMIT 1") ? /^SCAN (?!page|.* COVERING INDEX)/ : /^SCAN (?!page)/;
      const others = steps.filter((step) => scan.test(step) || step.includes("TEMP B-TREE"));
      const isWhile = steps.join().includes("(dueAt>? AND dueAt<?)");
      const sorted = isWhile ? [/FOR GROUP BY$/, /FOR LAST TERM OF ORDER BY$/] : [];
      const left = others.filter((step) => !sorted.some((one) => one.test(step)));
      expect(left, `${sql}\n${steps.join("\n")}`).to.deep.equal([]);
      const looks = steps.filter((step) => step.startsWith("SEARCH") && !step.includes("documents"));
      for (const look of looks) expect(look, sql).to.match(least);
    }
  }

  for (const destinationUrlId of [undefined, destinationId]) {
    for (const status of [undefined, "Pending" as const]) {
      for (const times of [{}, { from: at }, { to: at }, { from: at, to: at }]) {
        const filter = { tenantId, destinationUrlId, status, ...times };
        const by = Object.keys(filter).filter((name) => filter[name as keyof typeof filter] !== undefined).join(", ");
        const equal = `status=\\?${destinationUrlId ? " AND destinationUrlId=\\?" : ""} AND tenantId=\\?`;
        const bounds = `${"from" in times ? " AND id>\\?" : ""}${"to" in times ? " AND id<\\?" : ""}`;

        it(`for a page of events by ${by} begins at its place in one index`, async () => {
          for (const descending of [true, false]) {
            await readModels.find({ ...eventsSelected(filter), order: eventsOrdered(descending), limit: 20 });
          }
          // With several statuses it is first seen which there are.
          goesToItsPlace(new RegExp(`${equal}(${bounds}\\)$${status ? "" : "|\\)$"})`));
        });

        if (bounds === "") continue;
        it(`for a total of events by ${by} looks at less than two minutes of them`, async () => {
          for (const selection of planTotal(filter).counts) await readModels.count(selection);
          goesToItsPlace(new RegExp(`COVERING INDEX .*${equal} AND id>\\? AND id<\\?\\)$`));
        });
      }
    }
  }

  it("for the due index begins at its place in one index", async () => {
    const index = new DueIndex(readModels as ReadModels);
    const place = { destinationId, tenantId };
    await index.due(place, at, 64);
    await index.due(place, at, 64, at);
    await index.destinationsWithRetriesDue(now - 1, now);
    const range = { field: "dueAt", from: at, to: at };
    await readModels.distinct({ collection: "waiting", range }, "destinationId", { after: destinationId, limit: 9 });
    await index.destinationsWithWorkDue(now);
    await index.destinationsWithWorkDue(now - 3_600_000);
    await index.longestDue(now);
    goesToItsPlace(/INDEX i_(events_status|waiting)_|setAside|c_destinations USING PRIMARY KEY/);
    for (const sql of asked) {
      if (!sql.includes("LIMIT 1") || !sql.includes('"id" >=')) continue;
      expect(planOf(database, sql).join(), "ahead of the clock").to.match(/status=\? AND tenantId=\? AND id>\?/);
    }
  });

  it("for the probe has what was accepted first, also behind what is not due yet", async () => {
    await new DueIndex(readModels as ReadModels).oldestDue({ destinationId, tenantId }, now, 1);
    expect(asked.size).to.be.greaterThan(1);
    for (const sql of asked) expect(planOf(database, sql).join(), sql).to.match(/SEARCH \S+ .*(destinationId|destinationUrlId)=\?/);
  });

  it("for a purge begins at its place in one index", async () => {
    const purge = { tenantId, before: at, status: null, destinationId } as PurgeDocument;
    for (const selection of candidatesOf(purge)) {
      await pagesByKey(readModels, selection, { key: "id", size: 500 }).next();
    }
    goesToItsPlace(/status=\? AND destinationUrlId=\? AND tenantId=\? AND id<\?/);
  });
});
