import { expect } from "chai";
import { AuditQueries } from "../../../../src/features/audit/queries.ts";
import type { EventStore } from "../../../../src/kernel/ports/event-store.ts";
import type { ReadModels } from "../../../../src/kernel/ports/read-models.ts";
import type { Freshness } from "../../../../src/kernel/read-models/freshness.ts";
import { pageRequest } from "../../../support/page-request.ts";

const caller = { tenantId: "t", userId: "u", role: "Viewer" } as const;
const page = pageRequest({ quantity: 20, order: { field: "time", descending: true } });

describe("the audit's total", () => {
  let asked: string[];
  const readModels = {
    find: async () => [],
    sum: async (scope: string) => asked.push(scope),
    count: async () => asked.push("count"),
  } as unknown as ReadModels;
  const freshness = { ask: (question: () => unknown) => question() } as unknown as Freshness;
  const queries = new AuditQueries({ store: {} as EventStore, readModels, freshness });
  beforeEach(() => {
    asked = [];
  });

  it("is read from a counter without a filter", async () => {
    await queries.list(caller, { type: undefined, from: undefined }, page);
    expect(asked).to.deep.equal(["audit/t"]);
  });

  it("is counted with a filter", async () => {
    for (const filter of [{ type: "UserCreated" }, { from: "2026-01-15T09:30:00.000Z", actorId: undefined }]) {
      await queries.list(caller, filter, page);
    }
    expect(asked).to.deep.equal(["count", "count"]);
  });
});
