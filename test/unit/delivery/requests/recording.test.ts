import { expect } from "chai";
import { outcomeUnknown } from "../../../../src/delivery/requests/outcome.ts";
import { Outcomes } from "../../../../src/delivery/requests/recording.ts";
import { type CircuitEvent, circuits } from "../../../../src/features/circuits/facts.ts";
import { loadWebhook } from "../../../../src/features/events/webhooks.ts";
import { streams } from "../../../../src/kernel/domain/streams.ts";
import { millis, timestamp } from "../../../../src/kernel/domain/time.ts";
import { LogUnavailable, type RecordedEvent } from "../../../../src/kernel/ports/event-store.ts";
import { createTenant, openIngest } from "../../../support/accounts.ts";
import { tellCircuit } from "../../../support/circuits.ts";
import { ManualRelay } from "../../../support/manual-relay.ts";
import { refusal, success } from "../../../support/outcomes.ts";

const origin = { actor: { type: "service", part: "test" }, correlationId: "c", causationId: null } as const;

describe("outcomes", () => {
  let relay: ManualRelay;
  beforeEach(async () => {
    relay = await ManualRelay.open();
  });
  afterEach(() => relay.close());

  it("leave no failures counted after a success, though the worker dies before the event records it", async () => {
    const { tenantId, owner } = await createTenant(relay.api.url, { maxTrys: 3 });
    const target = await openIngest(owner.client, tenantId);
    const outcomes = new Outcomes({ ...relay.api.world, retry: { scheduleMs: [0], jitter: 0 } });
    const started = async () => {
      const eventId = await relay.accept(target);
      await relay.deliveries.start(eventId);
      const { state, revision } = await loadWebhook(relay.store, eventId);
      return { state: state!, revision };
    };
    const [failed, succeeded] = [await started(), await started()];
    const { destinationId } = failed.state;
    const { aggregates } = relay.api.world;
    const failures = async () => (await aggregates.current(circuits, destinationId)).state?.failures;
    await outcomes.recording({ known: failed, attempt: 1, outcome: refusal, origin }).finish();
    expect(await failures()).to.equal(1);

    const append = relay.store.append.bind(relay.store);
    relay.store.append = async (...asked) => {
      if (asked[0] === streams.event(succeeded.state.id)) throw new LogUnavailable("gone");
      return append(...asked);
    };
    const recording = outcomes.recording({ known: succeeded, attempt: 1, outcome: success, origin });
    expect(await recording.finish().catch(String)).to.include("gone");
    expect(await failures()).to.equal(0);
    const facts = (await relay.store.readStream(streams.circuit(destinationId))) as readonly RecordedEvent[];
    const eventIds = facts.map(({ data }) => (data as CircuitEvent["data"]).eventId);
    expect(eventIds).to.deep.equal([failed.state.id, succeeded.state.id]);
  });

  it("follow the policies of their destination, as they are now, before those of relay and tenant", async () => {
    const { world, url } = relay.api;
    const { tenantId, owner } = await createTenant(url, { maxTrys: 2, circuitBreakerTimer: 300 });
    const target = await openIngest(owner.client, tenantId);
    const outcomes = new Outcomes({ ...world, retry: { scheduleMs: [1_000], jitter: 0 } });
    const fail = async () => {
      const eventId = await relay.accept(target);
      await relay.deliveries.start(eventId);
      const { state, revision } = await loadWebhook(relay.store, eventId);
      await outcomes.recording({ known: { state: state!, revision }, attempt: 1, outcome: refusal, origin }).finish();
      const last = (await loadWebhook(relay.store, eventId)).facts.at(-1)!;
      return last.type === "RetryScheduled" ? millis(last.data.nextAttemptAt) - millis(last.data.at) : last.type;
    };
    const set = (fields: object) => owner.client.patch(`/api/v1/destinations/${target.destinationId}`, fields);
    const circuit = async () => {
      const stream = streams.circuit(target.destinationId);
      const [newest] = (await relay.store.readStream(stream, { backwards: true, limit: 1 })) as RecordedEvent[];
      const { position, failures, openUntil, at } = newest!.data as CircuitEvent["data"];
      return [position, failures, openUntil && millis(openUntil) - millis(at)];
    };
    await set({
      retryPolicy: { schedule: ["7s", "1h"], maxTrys: 5, retryOn: ["connection"] }, circuit: { failures: 3, timer: 60 },
    });
    expect(await fail()).to.equal(7_000);
    await set({ retryPolicy: { schedule: ["7s"], maxTrys: 1 } });
    expect(await fail()).to.equal("DeliveryExhausted");
    expect(await circuit()).to.deep.equal(["Closed", 2, null]);
    await set({ retryPolicy: { schedule: ["7s"], maxTrys: 5, retryOn: ["429"] } });
    expect(await fail()).to.equal("DeliveryExhausted");
    expect(await circuit()).to.deep.equal(["Open", 3, 60_000]);
    await set({ status: "active", retryPolicy: null, circuit: null });
    expect(await fail()).to.equal(1_000);
    await fail();
    expect(await circuit()).to.deep.equal(["Open", 2, 300_000]);
  });

  for (const [outcome, position] of [[success, "Closed"], [refusal, "Open"]] as const) {
    it(`of a probe make its circuit ${position} though an earlier attempt settled its event meanwhile`, async () => {
      const { clock, api: { world, url } } = relay;
      const { tenantId, owner } = await createTenant(url, { maxTrys: 2, circuitBreakerTimer: 300 });
      const target = await openIngest(owner.client, tenantId);
      const outcomes = new Outcomes({ ...world, retry: { scheduleMs: [0], jitter: 0 } });
      const startOf = async (eventId: string) => {
        await relay.deliveries.start(eventId);
        const { state, revision } = await loadWebhook(relay.store, eventId);
        return { known: { state: state!, revision }, attempt: state!.attempts, origin };
      };
      const circuit = async () => (await world.aggregates.current(circuits, target.destinationId)).state;
      const eventId = await relay.accept(target);
      const first = await startOf(eventId);
      await outcomes.recording({ ...first, outcome: outcomeUnknown }).finish();
      for (let n = 0; n < 2; n += 1) {
        await outcomes.recording({ ...await startOf(await relay.accept(target)), outcome: refusal }).finish();
      }
      clock.advance(300_000);
      const leaseUntil = timestamp(clock.now() + 20_000);
      await tellCircuit(world, { ...target, tenantId }, { type: "ClaimProbe", eventId, leaseUntil, lost: null });
      const probe = await startOf(eventId);
      await outcomes.recording({ ...first, outcome: success }).finish();
      expect(await circuit()).to.deep.include({ position: "Open", probe: { eventId, leaseUntil } });
      await outcomes.recording({ ...probe, outcome }).finish();
      expect(await circuit()).to.deep.include({ position, probe: null });
    });
  }
});
