import { expect } from "chai";
import type { Moved } from "../../../packages/client/src/index.ts";
import { scaleOf } from "../../../packages/dashboard/src/pages/events/buckets.ts";
import {
  bulkOfFilters, bulkOfIds, bulkWords, parametersOf, passes, searchOf, type Item,
} from "../../../packages/dashboard/src/pages/events/filters.ts";
import { moved } from "../../../packages/dashboard/src/pages/events/moves.ts";

describe("the filters of the list of events", () => {
  const to = "2026-11-26T12:00:00.000Z";
  const wording = { moment: (at: string) => at, destination: (id: string) => `destination ${id}` };

  it("become the parameters of the list, several statuses and tags as lists", () => {
    const address = { Status: "Pending,Succeeded", Tag: "order:1", Test: "false", event: "1", Text: "x", From: "" };
    expect(parametersOf(address)).to.deep.equal({ Status: ["Pending", "Succeeded"], Tag: ["order:1"], Test: false });
  });

  it("ask for a search by a text or by a field, not by both", () => {
    expect(searchOf({ Status: "Pending" })).to.equal(undefined);
    expect(searchOf({ Text: "a", Pointer: "/b", Value: "1", OwnerId: "o" })).to.deep.equal({ Text: "a" });
    expect(searchOf({ Pointer: "/b", Value: "1", Status: "Pending" }))
      .to.deep.equal({ Pointer: "/b", Value: "1", Status: ["Pending"] });
  });

  it("hold the hits of a search to those that it does not take", () => {
    const item = { eventType: "paid", ownerId: null, tags: { order: "a:1" }, test: false } as unknown as Item;
    expect(passes(item, { EventType: "paid", Tag: "order:a:1", Test: "false" })).to.equal(true);
    expect(passes(item, { OwnerId: "acme" })).to.equal(false);
    expect(passes(item, { Tag: "order:a:1,region:eu" })).to.equal(false);
  });

  it("become the filter of an act, up to the newest row, and in the statuses that it can take", () => {
    expect(bulkOfFilters("orderReplay", {}, to)).to.deep.equal({ status: ["CriticalFailure"], to });
    expect(bulkOfFilters("cancelEvents", { Status: "Pending,Succeeded", Tag: "a:1", To: "2026" }, to))
      .to.deep.equal({ status: ["Pending"], tag: "a:1", to: "2026" });
  });

  it("are refused where an act has no such filter: it must not take more than the list shows", () => {
    for (const filter of [
      { OwnerId: "acme" }, { MessageId: "m" }, { CorrelationId: "r" }, { IdempotencyKey: "k" }, { Test: "false" },
      { Tag: "a:1,b:2" }, { Status: "Pending" },
    ]) {
      expect(bulkOfFilters("orderReplay", filter, to), JSON.stringify(filter)).to.be.a("string");
    }
  });

  it("are told in words before an act", () => {
    const filter = bulkOfFilters("orderReplay", { DestinationUrlId: "d", EventType: "paid", Tag: "a:1" }, to);
    expect(bulkWords(filter as Exclude<typeof filter, string>, wording)).to.equal(
      `All events in CriticalFailure for destination d of type paid with the tag a:1, accepted up to ${to}. ` +
      "Test events stay as they are.");
    expect(bulkWords(bulkOfIds("cancelEvents", ["1", "2"]), wording)).to.equal(
      "The 2 selected events, if in Pending or WaitingRetry. Test events stay as they are.");
  });
});

describe("a row of the list of events", () => {
  const item = { status: "WaitingRetry", attempts: 1, lastAttempt: null, deliveredAt: null } as unknown as Item;
  const fact = (fields: Partial<Moved>): Moved => ({
    eventId: "1", destinationUrlId: "2", type: "DeliveryFailed", from: "Processing", to: "Failed", at: "t", attempt: 2,
    statusCode: null, reason: null, durationMs: null, test: false, ...fields,
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

  it("is a day in steps of five minutes without a time", () => {
    expect(scaleOf({}, now)).to.deep.equal({ Bucket: "5m", From: daysAgo(1), To: new Date(now).toISOString() });
  });

  it("fits the time, and never has more points than the relay gives", () => {
    expect(scaleOf({ From: daysAgo(0.1) }, now).Bucket).to.equal("1m");
    expect(scaleOf({ From: daysAgo(7) }, now).Bucket).to.equal("1h");
    expect(scaleOf({ From: daysAgo(9_000) }, now)).to.include({ Bucket: "1d", From: daysAgo(1_499) });
    expect(scaleOf({ From: "nonsense", To: daysAgo(3) }, now)).to.include({ From: daysAgo(4), To: daysAgo(3) });
  });
});
