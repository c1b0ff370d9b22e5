import { expect } from "chai";
import type { EventDocument } from "../../../projections/events/events.ts";
import { isTaken, purges, purgesProjection, type PurgeDocument } from "../../../projections/purges/purges.ts";
import { idOf } from "../../support/chronicle.ts";
import { position } from "../../support/position.ts";
import { recorded } from "../../support/recorded.ts";

const at = "2026-01-15T09:30:00.000Z";
const [tenantId, destinationId, id] = [idOf("tenant", 0), idOf("destination", 0), idOf("purge", 0)];
const all = { before: null, status: null, destinationId: null };

/** The document of a purge that counted up to `upTo` and stands at 9. */
const purged = (upTo: string | null): PurgeDocument => {
  const data = { purgeId: id, tenantId, ...all, upTo, matched: 1, earlier: [], at };
  const [change] = purgesProjection.on.EventsPurged?.(data, recorded({ type: "EventsPurged", data }, 9)) ?? [];
  expect(change).to.deep.include({ op: "put", collection: purges.name, key: id });
  return (change as unknown as { readonly document: PurgeDocument }).document;
};

const finished = (n: number): EventDocument => ({
  id: idOf("event", 0), tenantId, destinationUrlId: destinationId, status: "Succeeded", idempotencyKey: null,
  currentRetryCount: 0, nextAttemptAt: null, acceptedAt: at, deliveredAt: at, acceptedIn: position(1),
  finishedIn: position(n), finishedAt: at, test: null, correlationId: null, labels: null, attempts: 1,
  endedAttempt: 1, endedAt: at,
  endedStatusCode: 204, endedReason: null, endedDurationMs: 9,
});
const taken = (purge: PurgeDocument) => [5, 6, 7, 8, 10].filter((n) => isTaken(purge, finished(n)));

describe("documents of purges", () => {
  it("take events that had finished by the position up to which they counted", () => {
    expect(purged(position(6))).to.include({ position: position(9), upTo: position(6) });
    expect(taken(purged(position(6)))).to.deep.equal([5, 6]);
  });

  it("of older programs take events that had finished by their own position", () => {
    expect(purged(null)).to.include({ position: position(9), upTo: position(9) });
    expect(taken(purged(null))).to.deep.equal([5, 6, 7, 8]);
  });

  it("take no events of another tenant", () => {
    expect(isTaken(purged(position(6)), { ...finished(5), tenantId: idOf("tenant", 1) })).to.equal(false);
  });

  it("take no events that are under way again", () => {
    expect(isTaken(purged(position(6)), { ...finished(5), status: "Pending" })).to.equal(false);
  });
});
