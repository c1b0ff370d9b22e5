import { expect } from "chai";
import { SystemIds } from "../../../../src/engines/system/system-ids.ts";
import { subscriptions, subscriptionsId } from "../../../../src/features/subscriptions/facts.ts";
import { route } from "../../../../src/features/subscriptions/routing.ts";
import { Aggregates } from "../../../../src/kernel/log/aggregates.ts";
import type { LogEntry } from "../../../../src/kernel/ports/event-store.ts";
import { heldBytes } from "../../../support/heap.ts";
import { InMemoryEventStore } from "../../../support/in-memory-event-store.ts";
import { ManualClock } from "../../../support/manual-clock.ts";
import { sized } from "../../../support/size.ts";

const ids = new SystemIds();
const [senderId, tenantId] = [ids.uuid(), ids.uuid()];
const at = "2026-01-15T09:30:00.000Z";
const eachHas = 3;
const bytesForEach = 1_200;

/** A log that has the subscriptions of every owner, and keeps none of them in memory. */
class ManyOwners extends InMemoryEventStore {
  override async readStream(stream: string): Promise<readonly LogEntry[]> {
    return Array.from({ length: eachHas }, (_, revision) => JSON.parse(JSON.stringify({
      stream, id: ids.uuid(), position: "1", revision, type: "SubscriptionCreated",
      metadata: { actor: { type: "anonymous" }, correlationId: "c", causationId: null, at },
      data: {
        subscriptionId: ids.uuid(), tenantId, senderId, ownerId: stream, destinationId: ids.uuid(), at,
        eventTypes: ["invoice.paid", "refund.*"], filter: { data: { amount: { $gte: revision } } }, mapping: null,
      },
    })) as LogEntry);
  }
}

describe("the subscriptions of 100,000 owners", () => {
  it("take memory for those owners only whose messages came last", async () => {
    const [owners, max] = [sized(8_000, 100_000), sized(2_000, 20_000)];
    const store = new ManyOwners();
    const aggregates = new Aggregates(store, { clock: new ManualClock(), ids }, { max }).register(subscriptions);
    const post = async (count: number) => {
      for (let owner = 0; owner < count; owner += 1) {
        const { state } = await aggregates.read(subscriptions, subscriptionsId(senderId, `owner ${owner}`));
        const message = { type: "invoice.paid", ownerId: `owner ${owner}`, tags: null, data: '{"amount":1}' };
        expect(route(message, state?.live ?? [], []).matched).to.have.length(2);
      }
    };
    await post(10);
    const before = heldBytes();
    for (const messages of ["one message", "a second message"]) {
      await post(owners);
      expect((heldBytes() - before) / (max * eachHas), `bytes, ${messages} to each`).to.be.lessThan(bytesForEach);
    }
  });
});
