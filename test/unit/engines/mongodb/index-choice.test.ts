import { expect } from "chai";
import { audit, auditSelected, type AuditFilter } from "../../../../projections/audit/audit.ts";
import { events } from "../../../../projections/events/events.ts";
import { labels } from "../../../../projections/events/labels.ts";
import { indexFor } from "../../../../src/engines/mongodb/collections.ts";

describe("the index that MongoDB is told to use", () => {
  /** Each filter selects fewer facts than the one before. */
  const filters: readonly Partial<AuditFilter>[] = [
    { type: "TenantRenamed" }, { actorId: "a" }, { subjectId: "s" }, { correlationId: "c" },
  ];

  for (const [at, narrowest] of filters.entries()) {
    const [name = ""] = Object.keys(narrowest);

    it(`is the index of the narrowest filter: ${name}`, () => {
      for (let set = 0; set < 2 ** at; set += 1) {
        const wider = filters.filter((_, one) => one < at && set & (2 ** one));
        const filter = wider.reduce((all, one) => ({ ...all, ...one }), narrowest);
        const selection = auditSelected({ tenantId: "t", ...filter });
        const keys = indexFor(audit, { ...selection, order: { field: "time", descending: true }, limit: 20 });
        expect(Object.keys(keys ?? {}).slice(0, 4)).to.deep.equal(["tenantId", name, "time", "_id"]);
      }
    });
  }

  it("is left to MongoDB in queries by key only: just the index of the keys can answer", () => {
    const order = { field: "key", descending: true };
    const range = { field: "key", from: "a", to: "b" };
    expect(indexFor(labels, { collection: "labels", range, order, limit: 20 })).to.equal(undefined);
    const anyOf = { field: "key", values: ["a", "b"] };
    expect(indexFor(labels, { collection: "labels", anyOf, order, limit: 20 })).to.equal(undefined);
  });

  it("is left to MongoDB where a field is asked for that no index has", () => {
    const order = { field: "id", descending: true };
    const where = { idempotencyKey: "a" };
    expect(indexFor(events, { collection: "events", where, order, limit: 20 })).to.equal(undefined);
  });
});
