import { expect } from "chai";
import fc from "fast-check";
import {
  type Purge, type PurgeFilter, decide, evolve, noPurges, type Purges, type PurgesCommand, type PurgesEvent,
} from "../../../../src/features/purges/facts.ts";
import { met, type Expected } from "../../../support/decider-model.ts";
import { specificationsOf } from "../../../support/given.ts";
import { position } from "../../../support/position.ts";

const tenantId = "0193a1b2-c3d4-7000-8000-000000000001";
const [first, second] = ["0193a1b2-c3d4-7000-8000-00000000000c", "0193a1b2-c3d4-7000-8000-00000000000d"];
const at = "2026-01-15T09:30:00.000Z";
const all: PurgeFilter = { before: null, status: null, destinationId: null };
const under = (id: string, place: string, upTo = "0"): Purge => ({ id, position: place, upTo, ...all });
const order = (purgeId: string) =>
  ({ type: "PurgeEvents", tenantId, purgeId, filter: all, upTo: "0", matched: 7, at }) as const;
const complete = (purgeId: string) => ({ type: "CompletePurge", tenantId, purgeId, at }) as const;
const purged = (purgeId: string, ...earlier: readonly Purge[]): PurgesEvent =>
  ({ type: "EventsPurged", data: { purgeId, tenantId, ...all, upTo: "0", matched: 7, earlier, at } });
const completed = (purgeId: string, ...left: readonly Purge[]): PurgesEvent =>
  ({ type: "PurgeCompleted", data: { purgeId, tenantId, left, at } });

describe("purges of a tenant", () => {
  const given = specificationsOf<Purges, PurgesCommand, PurgesEvent>({
    initial: () => noPurges,
    evolve: (state, event) => evolve(state, event, event.data.purgeId === first ? "1" : "2"),
    decide,
  });

  it("are under way until they are completed, once", () => {
    given([]).when(order(first)).gives(purged(first));
    given([purged(first)]).when(complete(first)).gives(completed(first));
    given([purged(first), completed(first)]).when(complete(first)).changesNothing();
    given([]).when(complete(first)).changesNothing();
  });

  it("are listed in every fact while under way, each with its place in the log", () => {
    given([purged(first)]).when(order(second)).gives(purged(second, under(first, "1")));
    const both = purged(second, under(first, "1"));
    given([both]).when(complete(first)).gives(completed(first, under(second, "2")));
    given([both]).when(complete(second)).gives(completed(second, under(first, "1")));
    const expected = { underWay: [under(first, "1")], newest: "2" };
    expect(given([both]).when(complete(second)).state()).to.deep.equal(expected);
  });

  it("of older programs took the events finished before their own place in the log", () => {
    const older = { type: "EventsPurged", data: { ...purged(first).data, upTo: null } } as PurgesEvent;
    given([older]).when(order(second)).gives(purged(second, under(first, "1", "1")));
  });

  it("are a hundred at most, until one is completed", () => {
    const many = Array.from({ length: 99 }, (_, n) => under(first, position(n)));
    given([purged(first, ...many)]).when(order(second)).refused("unavailable", "under way");
    const less = many.slice(1);
    given([purged(first, ...less)]).when(order(second)).gives(purged(second, ...less, under(first, "1")));
  });
});

const step = fc.oneof(
  fc.record({ type: fc.constant("order" as const), id: fc.constantFrom("p", "q", "r") }),
  fc.record({ type: fc.constant("complete" as const), id: fc.constantFrom("p", "q", "r") }),
);

describe("purges of a tenant, against a model", () => {
  it("are those ordered and not completed, as listed in the newest fact", () => {
    const decider = {
      initial: () => noPurges,
      evolve: (_forgotten: Purges, event: PurgesEvent) => evolve(undefined, event),
      decide,
    };
    const expected = (model: { ids: string[] }, { type, id }: { type: string; id: string }): Expected => {
      if (type === "order") model.ids.push(id);
      else if (!model.ids.includes(id)) return [];
      else model.ids = model.ids.filter((other) => other !== id);
      return [type === "order" ? "EventsPurged" : "PurgeCompleted"];
    };
    const outcomes = met({
      decider,
      step,
      model: () => ({ ids: [] as string[] }),
      expected,
      command: ({ type, id }): PurgesCommand => (type === "order" ? order(id) : complete(id)),
      ofState: ({ underWay }) => underWay.map(({ id }) => id),
      ofModel: ({ ids }) => ids,
    });
    expect(outcomes).to.include.keys("order: EventsPurged", "complete: PurgeCompleted", "complete: nothing");
  });
});
