import { expect } from "chai";
import {
  effortText, messageSentence, nextRetry, outcomeWords, skippedWords, type DeliveryStatus, type Message,
} from "../../../packages/dashboard/src/story/message.ts";
import { plainText } from "../../../packages/dashboard/src/story/words.ts";

const at = "2026-11-25T10:05:00.000Z";

function deliveries(...statuses: readonly DeliveryStatus[]): Message["deliveries"] {
  return statuses.map((status, n) =>
    ({ eventId: `event ${n}`, subscriptionId: `${n}`, destinationUrlId: `${n}`, status }));
}

function said(fields: Partial<Message>, retryAt?: string): string {
  const message = { eventType: "invoice.paid", ownerId: "acme", deliveries: [], skipped: [], ...fields };
  return plainText(messageSentence(message, retryAt));
}

describe("the words of a message", () => {
  it("say to how many receivers it went, and how many deliveries came how far", () => {
    expect(said({ deliveries: deliveries("Succeeded", "WaitingRetry", "Succeeded") }, at)).to.equal(
      `“invoice.paid” for owner “acme” went to 3 receivers: 2 delivered, 1 waiting for a retry at ${at}.`);
    expect(said({ eventType: null, ownerId: null, deliveries: deliveries("CriticalFailure") })).to.equal(
      "The message went to 1 receiver: failed.");
    expect(said({ deliveries: deliveries("Cancelled", "Cancelled") })).to.match(/2 receivers: all cancelled\.$/);
    expect(said({ deliveries: deliveries("WaitingRetry", "Failed", null) }, at)).to.match(
      /: 2 waiting for a retry, the next at 2026-[^,]+, 1 purged\.$/);
  });

  it("say why it went to nobody", () => {
    const skipped = [{ subscriptionId: "1", reason: "filter" }];
    expect(said({})).to.match(/ went to no receiver: no subscription was there for it\.$/);
    expect(said({ skipped })).to.match(/: the one subscription did not match\.$/);
    expect(said({ skipped: [...skipped, ...skipped] })).to.match(/: none of 2 subscriptions matched\.$/);
    expect(skippedWords("filter")).to.equal("its filter did not match");
    expect(skippedWords("the moon")).to.equal("the moon");
  });

  it("name the next retry only where all that are planned are known", () => {
    const of = deliveries("WaitingRetry", "Succeeded", "WaitingRetry");
    const event = (id: string, nextAttemptAt: string) => ({ id, nextAttemptAt, status: "WaitingRetry" as const });
    const later = event("event 0", "2026-11-25T11:00:00.000Z");
    expect(nextRetry(of, [later])).to.equal(undefined);
    expect(nextRetry(of, [later, event("event 2", at)])).to.equal(at);
    expect(nextRetry(deliveries("Succeeded"), [])).to.equal(undefined);
  });

  it("count attempts, and the time until the delivery", () => {
    const event = { acceptedAt: at, deliveredAt: null } as Parameters<typeof effortText>[1];
    expect(effortText(0, event)).to.equal("no attempts");
    expect(effortText(1, { ...event, deliveredAt: "2026-11-25T10:05:01.200Z" })).to.equal("1 attempt, 1.2 s");
  });

  it("sum up a list without times", () => {
    const words = outcomeWords({ deliveries: deliveries("Succeeded", "Pending") });
    expect(plainText(words)).to.equal("1 delivered, 1 queued");
  });
});
