import { expect } from "chai";
import { apiKeys, apiKeySortFields } from "../../../projections/api-keys/api-keys.ts";
import { destinations, destinationSortFields } from "../../../projections/destinations/destinations.ts";
import { leases, waiting } from "../../../projections/due/due.ts";
import { events, eventsOrdered, eventsSelected } from "../../../projections/events/events.ts";
import { planTotal } from "../../../projections/events/totals.ts";
import { invites, inviteSortFields } from "../../../projections/invites/invites.ts";
import { users, usersSelected, userSortFields } from "../../../projections/users/users.ts";
import { accessPath } from "../../../src/adapters/embedded-read-models/access-path.ts";
import { orderFieldOf } from "../../../src/adapters/read-models/indexes.ts";
import type { CollectionDefinition, Selection } from "../../../src/ports/read-models.ts";

const tenantId = "00000000-0000-4000-8000-000000000001";
const destinationUrlId = "00000000-0000-4000-8000-000000000002";
const at = "2026-01-15T09:30:00.000Z";

describe("the index of a query", () => {
  const listed = (definition: CollectionDefinition, selection: Selection, field: string) => {
    const order = { field, descending: false };
    return accessPath(definition, selection, orderFieldOf(definition, { ...selection, order }), "order");
  };
  const conditions = ({ where = {}, anyOf }: Selection) => [...Object.keys(where), ...(anyOf ? [anyOf.field] : [])];

  const lists: [CollectionDefinition, Selection, readonly string[]][] = [
    ...[undefined, "Active" as const].flatMap((status) =>
      [undefined, "Owner" as const].map(
        (role) => [users, usersSelected({ tenantId, status, role }), userSortFields] satisfies (typeof lists)[number],
      ),
    ),
    [destinations, { collection: "destinations", where: { tenantId } }, destinationSortFields],
    [apiKeys, { collection: "apiKeys", where: { tenantId } }, apiKeySortFields],
    ...[undefined, "Failed" as const].flatMap((status) =>
      [undefined, destinationUrlId].map(
        (destination) =>
          [
            events,
            eventsSelected({ tenantId, status, destinationUrlId: destination }),
            [eventsOrdered(true).field],
          ] satisfies (typeof lists)[number],
      ),
    ),
    [invites, { collection: "invites", where: { tenantId } }, inviteSortFields],
    [waiting, { collection: "waiting", where: { destinationId: destinationUrlId } }, ["dueAt", "eventId"]],
    [leases, { collection: "leases" }, ["key"]],
    [leases, { collection: "leases", where: { destinationId: destinationUrlId } }, ["key"]],
    [destinations, { collection: "destinations", where: { active: true } }, ["wakeAt"]],
  ];
  for (const [definition, selection, sorts] of lists) {
    for (const field of sorts) {
      const by = conditions(selection);
      it(`has the order of ${definition.name} by ${field}${by.length > 0 ? ` within ${by.join(", ")}` : ""}`, () => {
        const path = listed(definition, selection, field);
        expect(path.ordered).to.equal(true);
        expect(path.fixed).to.include.members(by);
        expect(path.merges).to.equal(selection.anyOf !== undefined);
      });
    }
  }

  it("has a time of acceptance of events as one range, whatever they are filtered by", () => {
    for (const status of [undefined, "Failed" as const]) {
      for (const destination of [undefined, destinationUrlId]) {
        const filter = { tenantId, status, destinationUrlId: destination, from: at, to: at };
        const path = listed(events, eventsSelected(filter), eventsOrdered(true).field);
        expect(path).to.include({ ordered: true, ranged: true });
        for (const counted of planTotal(filter).counts) {
          const path = accessPath(events, counted, undefined, "range");
          expect(path.ranged).to.equal(true);
          expect(path.fixed).to.have.members(conditions(counted));
        }
      }
    }
  });

  it("has what is due of a destination in order, and when retries are due", () => {
    const due = { field: "dueAt", to: at };
    const retries = { collection: "waiting", where: { destinationId: destinationUrlId }, range: due };
    expect(listed(waiting, retries, "dueAt")).to.include({ ordered: true, ranged: true });
    expect(listed(waiting, retries, "eventId").index).to.deep.equal(["destinationId", "eventId", "dueAt"]);
    expect(accessPath(waiting, retries, "eventId", "range").index).to.deep.equal(["destinationId", "dueAt"]);
    expect(listed(waiting, { collection: "waiting", range: due }, "dueAt").ranged).to.equal(true);
  });

  it("is one by the range where that is asked for first", () => {
    const things = {
      name: "things", key: "id", fields: { id: "id", owner: "id", at: "time" }, indexes: [["owner"], ["owner", "at"]],
    } as const;
    const selection = { collection: "things", where: { owner: tenantId }, range: { field: "at", from: at } };
    expect(accessPath(things, selection, "id", "range").index).to.deep.equal(["owner", "at"]);
    expect(accessPath(things, selection, "id", "order").index).to.deep.equal(["owner"]);
  });

  it("is none where there is none", () => {
    const things = { name: "things", key: "id", fields: { id: "id", at: "time" }, indexes: [] } as const;
    const all = { collection: "things" };
    expect(accessPath(things, all, "at", "order")).to.include({ index: undefined, ordered: false });
    expect(accessPath(things, all, "id", "order")).to.include({ index: undefined, ordered: true });
  });
});
