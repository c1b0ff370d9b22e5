import { expect } from "chai";
import type { Moved } from "../../../packages/client/src/index.ts";
import { bars, scaleOf } from "../../../packages/dashboard/src/pages/events/buckets.ts";
import {
  columnsChange, columnsOf, columnText, problemOfColumn, valueAt,
} from "../../../packages/dashboard/src/pages/events/columns.ts";
import {
  bulkOfFilters, bulkOfIds, bulkWords, parametersOf, searchOf, type Item,
} from "../../../packages/dashboard/src/pages/events/filters.ts";
import { moved } from "../../../packages/dashboard/src/pages/events/moves.ts";
import { savable } from "../../../packages/dashboard/src/pages/events/saved-filters.ts";

describe("the filters of the list of events", () => {
  const to = "2026-11-26T12:00:00.000Z";
  const wording = { moment: (at: string) => at, destination: (id: string) => `destination ${id}` };

  it("become the parameters of the list, several statuses and tags as lists", () => {
    const address = { Status: "Pending,Succeeded", Tag: "order:1", Test: "false", event: "1", Text: "x", From: "" };
    expect(parametersOf(address)).to.deep.equal({ Status: ["Pending", "Succeeded"], Tag: ["order:1"], Test: false });
  });

  it("ask for a search by a text or by a field, not by both", () => {
    expect(searchOf({ Status: "Pending" })).to.equal(undefined);
    expect(searchOf({ Text: "a", Pointer: "/b", Value: "1", OwnerId: "o" })).to.deep.equal({ Text: "a", OwnerId: "o" });
    expect(searchOf({ Pointer: "/b", Value: "1", Status: "Pending", CorrelationId: "r", Tag: "a:1", Test: "true" }))
      .to.deep.equal({
        Pointer: "/b", Value: "1", Status: ["Pending"], CorrelationId: "r", Tag: ["a:1"], Test: true,
      });
  });

  it("become the filter of an act, up to the newest row, and in the statuses that it can take", () => {
    expect(bulkOfFilters("orderReplay", {}, to)).to.deep.equal({ status: ["CriticalFailure"], to });
    expect(bulkOfFilters("cancelEvents", { Status: "Pending,Succeeded", Tag: "a:1", To: "2026" }, to))
      .to.deep.equal({ status: ["Pending"], tags: { a: "1" }, to: "2026" });
    const wide = { OwnerId: "acme", CorrelationId: "r", Tag: "a:1,url:b:c", FinishedFrom: "2026", From: "2025" };
    expect(bulkOfFilters("orderReplay", wide, to)).to.deep.equal({
      status: ["CriticalFailure"], ownerId: "acme", correlationId: "r", tags: { a: "1", url: "b:c" }, from: "2025", to,
      finishedFrom: "2026",
    });
  });

  it("are refused where an act has no such filter: it must not take more than the list shows", () => {
    for (const filter of [
      { IdempotencyKey: "k" }, { Test: "false" }, { ReplayId: "r" }, { Status: "Pending" },
    ]) {
      expect(bulkOfFilters("orderReplay", filter, to), JSON.stringify(filter)).to.be.a("string");
    }
  });

  it("are told in words before an act", () => {
    const filter = bulkOfFilters("orderReplay", { DestinationUrlId: "d", EventType: "paid", Tag: "a:1" }, to);
    expect(bulkWords(filter as Exclude<typeof filter, string>, wording)).to.equal(
      `All events in Failed for destination d of type paid with the tag a:1, accepted up to ${to}. ` +
      "Test events stay as they are.");
    expect(bulkWords(bulkOfIds("cancelEvents", ["1", "2"]), wording)).to.equal(
      "The 2 selected events, if in Queued or Retrying. Test events stay as they are.");
  });
});

describe("columns from the payload", () => {
  const digits = "1".repeat(200);
  const payload = `{"order":{"id":${digits},"a/b":{"~":"x"}},"items":[{"sku":"é"},null],"vip":true,"text":" a "}`;

  it("have the value at a JSON Pointer, numbers with every digit", () => {
    for (const [pointer, value] of [
      ["/order/id", digits], ["/order/a~1b/~0", "x"], ["/items/0/sku", "é"], ["/items/1", "null"], ["/vip", "true"],
      ["/text", " a "], ["/order", `{"id":${digits},"a/b":{"~":"x"}}`],
    ] as const) {
      expect(valueAt(payload, pointer), pointer).to.equal(value);
    }
  });

  it("are empty for any payload without such a value", () => {
    for (const pointer of [
      "/none", "/order/none", "/items/2", "/items/length", "/text/0", "/vip/toString", "/order/id/rawJSON",
      "/__proto__",
    ]) {
      expect(valueAt(payload, pointer), pointer).to.equal(undefined);
    }
    for (const other of ["not JSON", "", "7", "null"]) expect(valueAt(other, "/a"), other).to.equal(undefined);
  });

  it("show the JSON that the relay answers: a text as it is, also where it is cut", () => {
    const texts = [null, '"order \\"3\\""', "1.50", '{"a":1}', '"cut \\'].map(columnText);
    expect(texts).to.deep.equal(["–", 'order "3"', "1.50", '{"a":1}', "cut \\…"]);
  });

  it("are kept in the address, three at most", () => {
    expect(columnsOf(columnsChange(["/a.b", "/c d"]))).to.deep.equal(["/a.b", "/c d"]);
    expect(columnsOf(columnsChange(["/", "/a,b", "/a\tb", `/${"x".repeat(255)}`]))).to.deep.equal([]);
    expect(columnsOf({ columns: "/a\n/a\nb\n/~2\n/c\n/d\n/e" })).to.deep.equal(["/a", "/c", "/d"]);
    expect(columnsOf({})).to.deep.equal([]);
  });

  it("are refused with the reason", () => {
    expect(problemOfColumn("/a", ["/b"])).to.equal(undefined);
    expect(problemOfColumn("order.id", [])).to.match(/begins with a slash/);
    expect(problemOfColumn("", [])).to.match(/begins with a slash/);
    expect(problemOfColumn("/a", ["/a"])).to.equal("/a is a column already.");
    expect(problemOfColumn("/d", ["/a", "/b", "/c"])).to.equal("The list has room for 3 columns.");
  });
});

describe("saved filters", () => {
  it("are those of the list with its columns, not the open event or its moment", () => {
    expect(savable({ Status: "Pending", event: "1", at: "5", columns: "/a", To: "" }))
      .to.deep.equal({ Status: "Pending", columns: "/a" });
    expect(savable({ event: "1" })).to.equal(undefined);
  });
});

describe("a row of the list of events", () => {
  const item = { status: "WaitingRetry", attempts: 1, lastAttempt: null, deliveredAt: null } as unknown as Item;
  const fact = (fields: Partial<Moved>): Moved => ({
    eventId: "1", destinationUrlId: "2", type: "DeliveryFailed", from: "Processing", to: "Failed", at: "t", attempt: 2,
    statusCode: null, reason: null, durationMs: null, test: false, eventType: null, ownerId: null, senderId: null,
    ...fields,
  });

  it("follows the attempts of its event", () => {
    const begun = moved(item, fact({ type: "DeliveryAttemptStarted", from: "WaitingRetry", to: "Processing" }));
    expect(begun).to.include({ status: "Processing", attempts: 2 });
    expect(begun.lastAttempt).to.include({ number: 2, outcome: "in progress" });
    const failed = moved(begun, fact({ reason: "status", statusCode: 500, durationMs: 3 }));
    expect(failed.lastAttempt).to.include({ outcome: "failed", statusCode: 500, reason: "status", durationMs: 3 });
    const ended = moved(failed, fact({ type: "DeliverySucceeded", to: "Succeeded", statusCode: 200 }));
    expect(ended).to.include({ status: "Succeeded", deliveredAt: "t" });
  });

  it("does not go back by facts of earlier attempts, or by that of its acceptance", () => {
    const later = { ...item, attempts: 3 };
    expect(moved(later, fact({}))).to.equal(later);
    expect(moved(item, fact({ type: "EventAccepted", from: null, to: "Pending", attempt: null }))).to.equal(item);
  });
});

describe("the scale of the histogram", () => {
  const now = Date.parse("2026-11-26T12:00:00.000Z");
  const daysAgo = (days: number) => new Date(now - days * 86_400_000).toISOString();

  it("is a day in quarters of an hour without a time, or the time since the tenant was created", () => {
    const minute = 60_000;
    expect(scaleOf({}, now)).to.deep.equal(
      { Bucket: "5m", From: daysAgo(1), To: new Date(now).toISOString(), stepMs: 15 * minute });
    expect(scaleOf({}, now, now - 6 * 3_600_000)).to.include({ From: daysAgo(0.25), stepMs: 5 * minute });
    expect(scaleOf({}, now, now - 1_000)).to.include({ From: daysAgo(1 / 24), stepMs: minute });
    expect(scaleOf({ From: daysAgo(2) }, now, now - 1_000)).to.include({ From: daysAgo(2) });
  });

  it("fits the time, and never has more points than the relay gives", () => {
    expect(scaleOf({ From: daysAgo(0.05) }, now).Bucket).to.equal("1m");
    expect(scaleOf({ From: daysAgo(7) }, now).Bucket).to.equal("1h");
    expect(scaleOf({ From: daysAgo(9_000) }, now)).to.include({ Bucket: "1d", From: daysAgo(1_499) });
    expect(scaleOf({ From: "nonsense", To: daysAgo(3) }, now)).to.include({ From: daysAgo(4), To: daysAgo(3) });
  });

  it("gathers points in bars that begin at multiples of their length", () => {
    const points = [10, 15, 20, 25, 30].map((minute) => ({ at: `2026-11-26T11:${minute}:00.000Z` }));
    const { buckets, bars: all } = bars(points, 900_000);
    expect(buckets.at.map((at) => new Date(at).toISOString().slice(14, 16))).to.deep.equal(["00", "15", "30"]);
    expect(all.map(({ length }) => length)).to.deep.equal([1, 3, 1]);
  });
});
