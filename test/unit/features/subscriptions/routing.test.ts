import { expect } from "chai";
import type { Subscription } from "../../../../src/features/subscriptions/facts.ts";
import {
  messageOf, problemOfEventTypes, route, type RoutedMessage,
} from "../../../../src/features/subscriptions/routing.ts";

const at = "2026-01-15T09:30:00.000Z";
const subscription = (id: string, settings: Partial<Subscription> = {}): Subscription => ({
  id, tenantId: "t", senderId: "s", destinationId: `d-${id}`, ownerId: null, eventTypes: null, filter: null,
  mapping: null, active: true, revision: 0, createdAt: at, updatedAt: at, ...settings,
});
const message = (fields: Partial<RoutedMessage> = {}): RoutedMessage =>
  ({ type: "invoice.paid", ownerId: "acme", tags: { region: "eu" }, data: '{"amount":100}', ...fields });
const told = (
  owners: readonly Subscription[], ownerless: readonly Subscription[], fields: Partial<RoutedMessage> = {},
) => {
  const { matched, skipped } = route(message(fields), owners, ownerless);
  return [matched.map(({ id }) => id), skipped.map(({ subscriptionId, reason }) => [subscriptionId, reason])];
};

describe("the routing of a message", () => {
  it("matches event types exactly, by family, and by no condition", () => {
    const table: readonly (readonly [types: readonly string[] | null, type: string | null, matches: boolean])[] = [
      [null, "invoice.paid", true], [null, null, true],
      [["invoice.paid"], "invoice.paid", true], [["invoice.paid"], "Invoice.paid", false],
      [["invoice.paid"], "invoice.paid.late", false], [["invoice.paid"], null, false],
      [["invoice.*"], "invoice.paid", true], [["invoice.*"], "invoice.item.added", true],
      [["invoice.*"], "invoice", false], [["invoice.*"], "invoice.", false], [["invoice.*"], "invoices.paid", false],
      [["invoice.*"], "INVOICE.paid", false], [["invoice.*"], null, false],
      [["refund.*", "invoice.paid"], "invoice.paid", true], [["invoice.item.*"], "invoice.paid", false],
    ];
    for (const [eventTypes, type, matches] of table) {
      expect(told([], [subscription("a", { eventTypes })], { type }), JSON.stringify([eventTypes, type]))
        .to.deep.equal(matches ? [["a"], []] : [[], [["a", "event type"]]]);
    }
  });

  it("reaches a destination once, by the owner's subscription before one without an owner", () => {
    const same = { destinationId: "d" };
    const ours = subscription("ours", { ...same, ownerId: "acme" });
    const everyones = subscription("everyones", same);
    expect(told([ours], [everyones])).to.deep.equal([["ours"], [["everyones", "already reached"]]]);
    expect(told([{ ...ours, active: false }], [everyones])).to.deep.equal([["everyones"], [["ours", "inactive"]]]);
    expect(told([{ ...ours, eventTypes: ["refund.*"] }], [everyones]))
      .to.deep.equal([["everyones"], [["ours", "event type"]]]);
    expect(told([ours, subscription("other")], [subscription("third")]))
      .to.deep.equal([["ours", "other", "third"], []]);
  });

  it("names the first obstacle: the status, the event type, the filter, another subscription", () => {
    const filter = { data: { amount: { $gt: 100 } } };
    const all = { active: false, eventTypes: ["refund.*"], filter, destinationId: "d" };
    const reasons = [all, { ...all, active: true }, { filter, destinationId: "d" }, { destinationId: "d" }]
      .map((settings, place) => subscription(`s${place}`, settings));
    expect(told([], [subscription("first", { destinationId: "d" }), ...reasons])).to.deep.equal([
      ["first"],
      [["s0", "inactive"], ["s1", "event type"], ["s2", "filter"], ["s3", "already reached"]],
    ]);
  });

  it("filters by type, owner, tags and data, of which absent ones are missing", () => {
    const filters = [
      { type: "invoice.paid" }, { ownerId: "acme" }, { tags: { region: "eu" } }, { data: { amount: 100 } },
    ].map((filter, place) => subscription(`f${place}`, { filter }));
    expect(told(filters, [])).to.deep.equal([["f0", "f1", "f2", "f3"], []]);
    const none = { type: null, ownerId: null, tags: null, data: "{}" };
    expect(told(filters, [], none)).to.deep.equal([[], filters.map(({ id }) => [id, "filter"])]);
    const missing = ["type", "ownerId", "tags"]
      .map((name) => subscription(name, { filter: { [name]: { $exist: false } } }));
    expect(told(missing, [], none)).to.deep.equal([["type", "ownerId", "tags"], []]);
  });

  it("parses the data once, and only where a filter reads it", () => {
    const { parse } = JSON;
    let parsed = 0;
    JSON.parse = (...given) => {
      parsed += 1;
      return Reflect.apply(parse, JSON, given) as unknown;
    };
    try {
      told([], [subscription("a"), subscription("b", { filter: { type: "invoice.paid" } })]);
      expect(parsed).to.equal(0);
      const filter = { data: { amount: 100 } };
      told([], Array.from({ length: 50 }, (_, place) => subscription(`s${place}`, { filter: { ...filter } })));
      expect(parsed).to.equal(1);
      told([], [subscription("a", { filter, active: false }), subscription("b", { filter, eventTypes: ["x"] })]);
      expect(parsed).to.equal(1);
    } finally {
      JSON.parse = parse;
    }
  });

  it("takes the event type of the header before that of the body, and tags of the header before search fields", () => {
    const sender = { eventTypePath: "/meta/type", searchFields: [{ name: "order", path: "/id" }] };
    const body = (type: unknown) => JSON.stringify({ id: 7, meta: { type } });
    const read = (type: unknown, given: { eventType?: string; tags?: Record<string, string> } = {}) => {
      const { eventType = null, tags = null } = given;
      const { type: found, tags: all } = messageOf(sender, body(type), { eventType, ownerId: null, tags, data: "{}" });
      return [found, all];
    };
    expect(read("order.paid")).to.deep.equal(["order.paid", { order: "7" }]);
    expect(read("order.paid", { eventType: "header", tags: { order: "8", a: "b" } }))
      .to.deep.equal(["header", { order: "8", a: "b" }]);
    for (const bad of [1, null, "", "x".repeat(256), "a\nb", ["x"], "\ud800", undefined]) {
      expect(read(bad)[0], JSON.stringify(bad)).to.equal(null);
    }
    expect(read("é".repeat(255))[0]).to.equal("é".repeat(255));
    const plain = messageOf({ eventTypePath: null, searchFields: [] }, body("x"), {
      eventType: null, ownerId: "acme", tags: null, data: '{"a":1}',
    });
    expect(plain).to.deep.equal({ type: null, ownerId: "acme", tags: null, data: '{"a":1}' });
  });

  it("refuses event types that no message could have, and families that are none", () => {
    expect(problemOfEventTypes(["invoice.paid", "invoice.*", "a", "x y", "a.b.*"])).to.equal(null);
    for (const bad of ["*", ".*x", "a*", "a.*.b", "*.a", "a\u0000", "", "x".repeat(256), "\ud800"]) {
      expect(problemOfEventTypes(["a", bad]), JSON.stringify(bad)).to.include("eventTypes.1: must be an event type");
    }
  });
});
