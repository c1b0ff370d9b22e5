import { expect } from "chai";
import { streams } from "../../../src/kernel/domain/streams.ts";
import { withDeliveriesLeft } from "../../../src/projector/purged-deliveries.ts";
import examples from "../../facts/message.json" with { type: "json" };
import type { Told } from "../../support/chronicle.ts";
import { WrittenLog } from "../../support/written-log.ts";

const accepted = examples["MessageAccepted.v1"][0]!;
const { messageId, tenantId, deliveries } = accepted.data;
const [one, other] = deliveries.map(({ eventId }) => eventId) as [string, string];
const at = "2026-01-15T09:30:00.000Z";

const facts = {
  accepted: { stream: streams.event(messageId), fact: accepted },
  begun: (eventId: string) =>
    ({ stream: streams.event(eventId), fact: { type: "DeliveryBegun", data: { eventId, tenantId, messageId, at } } }),
  purged: (deliveryId: string, last: boolean) => ({
    stream: streams.event(messageId),
    fact: { type: "MessageDeliveryPurged", data: { messageId, tenantId, deliveryId, last, at } },
  }),
};

/** The types of facts that read models are built from, and whether the message is still in the log. */
async function built(told: readonly object[], ...deleted: readonly string[]) {
  const log = new WrittenLog();
  log.write(told as readonly Told[]);
  for (const eventId of deleted) log.delete(streams.event(eventId));
  const left = await withDeliveriesLeft(log, (await log.readLog("", 100)).entries);
  const { length } = await log.readStream(streams.event(messageId));
  return { types: left.map(({ type }) => type), isKept: length > 0 };
}

describe("building read models from a log with purged deliveries", () => {
  it("leaves out a delivery that was purged, and keeps the message of another", async () => {
    expect(await built([facts.accepted, facts.begun(one), facts.purged(one, false)], one)).to.deep.equal({
      types: ["MessageAccepted", "EventAccepted", "DeliveryExhausted", "MessageDeliveryPurged"], isKept: true,
    });
  });

  it("keeps a delivery whose purge broke off before its stream was deleted: the purge then finds it", async () => {
    const { types, isKept } = await built([facts.accepted, facts.begun(one), facts.purged(one, false)]);
    expect([types.filter((type) => type === "EventAccepted").length, isKept]).to.deep.equal([2, true]);
  });

  it("deletes a message where the purge of its last delivery broke off before that", async () => {
    const told = [
      facts.accepted, facts.begun(one), facts.begun(other), facts.purged(one, false), facts.purged(other, true),
    ];
    expect(await built(told, one, other)).to.deep.equal({
      types: ["MessageDeliveryPurged", "MessageDeliveryPurged"], isKept: false,
    });
  });
});
