import { expect } from "chai";
import { Purger } from "../../../../src/features/purges/worker.ts";
import { streams } from "../../../../src/kernel/domain/streams.ts";
import { timestamp } from "../../../../src/kernel/domain/time.ts";
import { entriesOf, serviceOrigin } from "../../../../src/kernel/log/origin.ts";
import { LogUnavailable, noStream, RevisionConflict } from "../../../../src/kernel/ports/event-store.ts";
import { failureOf } from "../../../contract/event-store/harness.ts";
import { createTenant, openIngest } from "../../../support/accounts.ts";
import { ManualRelay, never } from "../../../support/manual-relay.ts";
import { eventually } from "../../../support/relay.ts";
import { spoilReads } from "../../../support/spoiled.ts";
import { quiet, uncounted } from "../../../support/telemetry.ts";

describe("purger", () => {
  let relay: ManualRelay;

  beforeEach(async () => {
    relay = await ManualRelay.open();
  });
  afterEach(() => relay.close());

  it("rests for as long as its deletions took", async () => {
    const { api, clock, models, store } = relay;
    const { tenantId, owner } = await createTenant(api.url);
    await relay.deliveries.succeed(await relay.accept(await openIngest(owner.client, tenantId)));
    expect((await owner.client.post("/api/v1/events/purge", {})).status).to.equal(204);
    await eventually(() => models.count({ collection: "purges", where: { hiding: false } }), (count) => count === 1);
    let monotonic = 0;
    store.beforeDelete = async () => void (monotonic += 70);
    const rests: number[] = [];
    const pausing = {
      now: () => clock.now(),
      monotonic: () => monotonic,
      schedule: (ms: number, task: () => void) => {
        rests.push(ms);
        return clock.schedule(0, task);
      },
    };
    await new Purger({ ...api.world, clock: pausing, logger: quiet, metrics: uncounted }).run(never);
    expect([store.deleted, rests]).to.deep.equal([1, [70]]);
  });

  it("ends a message's deliveries for good, also one without a stream", async () => {
    const { api, store } = relay;
    const { ids } = api.world;
    const { tenantId, owner } = await createTenant(api.url);
    const { apiKeyId, destinationId } = await openIngest(owner.client, tenantId);
    const id = () => ids.uuid();
    const routed = { revision: 0, destinationId, payload: null };
    const deliveries = ["no object", null].map((problem) =>
      ({ ...routed, eventId: id(), subscriptionId: id(), problem }));
    const message = {
      messageId: id(), tenantId, apiKeyId, senderId: id(), senderRevision: 0, idempotencyKey: null, payload: "{}",
      original: null, deliveries, skipped: [], at: timestamp(relay.clock.now()),
    };
    const [unmapped, cancelled] = deliveries.map(({ eventId }) => eventId);
    const entries = entriesOf([{ type: "MessageAccepted", data: message }], serviceOrigin("operator", ids), ids);
    await store.append(streams.event(message.messageId), noStream, entries);
    await relay.drained();
    await owner.client.api.cancelEvent({ id: cancelled! });
    expect(await store.readStream(streams.event(unmapped!))).to.deep.equal([]);
    expect(await store.readStream(streams.event(cancelled!))).to.have.length(2);
    expect((await owner.client.post("/api/v1/events/purge", {})).status).to.equal(204);
    await relay.settle();
    expect(await store.readStream(streams.event(message.messageId))).to.deep.equal([]);
    for (const eventId of [unmapped!, cancelled!]) {
      expect(await store.readStream(streams.event(eventId))).to.deep.equal([]);
      expect(await failureOf(store.append(streams.event(eventId), noStream, entries))).to.be
        .instanceOf(RevisionConflict);
    }
  });

  describe("with unreadable records of a tenant", () => {
    const purged = async () => {
      const { tenantId, owner } = await createTenant(relay.api.url);
      const eventId = await relay.accept(await openIngest(owner.client, tenantId));
      await relay.deliveries.succeed(eventId);
      expect((await owner.client.post("/api/v1/events/purge", {})).status).to.equal(204);
      return { tenantId, eventId };
    };
    /** The tenants whose purged events are still in the log after two runs of the purger. */
    const leftBy = async (isSpoiled: (stream: string) => boolean) => {
      const { models, store } = relay;
      const all = [await purged(), await purged(), await purged()].sort((a, b) => a.tenantId < b.tenantId ? -1 : 1);
      await eventually(() => models.count({ collection: "purges", where: { hiding: false } }), (count) => count === 3);
      const mend = spoilReads(store, ({ stream }) => isSpoiled(stream));
      await relay.purger.run(never);
      await relay.drained();
      await relay.purger.run(never);
      mend();
      const facts = await Promise.all(all.map(({ eventId }) => store.readStream(streams.event(eventId))));
      return all.filter((_, at) => facts[at]!.length > 0).map(({ tenantId }) => tenantId);
    };

    it("goes on with the purges of other tenants", async () => {
      const stuck = new Set<string>();
      const left = await leftBy((stream) => {
        // The first tenant that the purger looks at.
        if (stream.startsWith("purges-") && stuck.size === 0) stuck.add(stream);
        return stuck.has(stream);
      });
      expect(left.map((tenantId) => `purges-${tenantId}`)).to.deep.equal([...stuck]);
    });

    it("goes on with the purges of other tenants when an event's stream cannot be deleted", async () => {
      const stuck = new Set<string>();
      relay.store.beforeDelete = async (stream) => {
        if (stuck.size === 0) stuck.add(stream);
        if (stuck.has(stream)) throw new LogUnavailable("a damaged page");
      };
      expect(await leftBy(() => false)).to.have.length(1);
    });

    it("deletes events though the records of their API keys are damaged", async () => {
      let asked = 0;
      const left = await leftBy((stream) => stream.startsWith("apiKey-") && (asked += 1) > 0);
      expect(left).to.deep.equal([]);
      expect(asked).to.be.greaterThan(0);
    });
  });
});
