import { expect } from "chai";
import { outcomeUnknown } from "../../../../src/delivery/requests/outcome.ts";
import { Outcomes } from "../../../../src/delivery/requests/recording.ts";
import { type CircuitEvent, circuits } from "../../../../src/features/circuits/facts.ts";
import { loadWebhook } from "../../../../src/features/events/webhooks.ts";
import { streams } from "../../../../src/kernel/domain/streams.ts";
import { timestamp } from "../../../../src/kernel/domain/time.ts";
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
