import { expect } from "chai";
import { Claims } from "../../../../src/delivery/dispatch/claims.ts";
import type { SendOutcome } from "../../../../src/delivery/requests/outcome.ts";
import { Outcomes } from "../../../../src/delivery/requests/recording.ts";
import { BulkReplay } from "../../../../src/features/bulk/commands.ts";
import { EventCommands } from "../../../../src/features/events/commands.ts";
import { ShownEvents } from "../../../../src/features/events/shown-events.ts";
import { loadWebhook } from "../../../../src/features/events/webhooks.ts";
import { LogUnavailable } from "../../../../src/kernel/ports/event-store.ts";
import { createTenant, openIngest } from "../../../support/accounts.ts";
import { ManualRelay } from "../../../support/manual-relay.ts";
import { refusal, success } from "../../../support/outcomes.ts";
import { quiet, uncounted } from "../../../support/telemetry.ts";

const origin = { actor: { type: "service", part: "test" }, correlationId: "c", causationId: null } as const;

describe("the ledger of events", () => {
  let relay: ManualRelay;
  let counted: string[];
  let accept: () => Promise<string>;
  let outcomes: Outcomes;
  let claims: Claims;
  let commands: EventCommands;
  let bulk: BulkReplay;
  let owner: { readonly tenantId: string; readonly userId: string; readonly role: "Owner" };

  beforeEach(async () => {
    relay = await ManualRelay.open();
    const tenant = await createTenant(relay.api.url, { maxTrys: 1 });
    const target = await openIngest(tenant.owner.client, tenant.tenantId);
    owner = { tenantId: tenant.tenantId, userId: tenant.owner.id, role: "Owner" };
    counted = [];
    const metrics = {
      ...uncounted, finished: (status: string) => counted.push(status), replayed: () => counted.push("replayed"),
    };
    const world = { ...relay.api.world, metrics };
    accept = () => relay.accept(target);
    outcomes = new Outcomes({ ...world, retry: { scheduleMs: [0], jitter: 0 } });
    claims = new Claims({ ...world, logger: quiet, workerId: "w", deliveryTimeoutMs: 9 });
    commands = new EventCommands(world);
    bulk = new BulkReplay({ ...world, shown: new ShownEvents(world) });
  });
  afterEach(() => relay.close());

  /** An attempt that begins and ends; its worker knows the event as of the attempt's start. */
  async function attempted(id: string, outcome: SendOutcome): Promise<void> {
    await relay.deliveries.start(id);
    await recorded(id, outcome);
  }

  async function recorded(id: string, outcome: SendOutcome, attempt?: number): Promise<void> {
    const { state, revision } = await loadWebhook(relay.store, id);
    const known = { state: state!, revision };
    await outcomes.recording({ known, attempt: attempt ?? state!.attempts, outcome, origin }).finish();
  }

  it("counts how each event ends, and each replay", async () => {
    const [delivered, dead, replayed, cancelled, orphan] = await Promise.all([1, 2, 3, 4, 5].map(accept));
    await attempted(delivered!, success);
    expect(counted.splice(0)).to.deep.equal(["Succeeded"]);
    await attempted(dead!, refusal);
    await attempted(replayed!, refusal);
    expect(counted.splice(0)).to.deep.equal(["CriticalFailure", "CriticalFailure"]);
    await commands.replay(owner, replayed!, origin);
    expect(counted.splice(0)).to.deep.equal(["replayed"]);
    await attempted(replayed!, success);
    expect(counted.splice(0)).to.deep.equal(["Succeeded"]);
    await relay.drained();
    expect(await bulk.replay(owner, { dryRun: false }, origin)).to.deep.equal({ matched: 1, replayed: 1 });
    await attempted(dead!, refusal);
    expect(counted.splice(0)).to.deep.equal(["replayed", "CriticalFailure"]);
    await commands.cancel(owner, cancelled!, origin);
    await Promise.all([1, 2].map(() => claims.cancel({ kind: "due", eventId: orphan! })));
    expect(await claims.cancel({ kind: "due", eventId: orphan! })).to.equal("nothing to do");
    expect(counted).to.deep.equal(["Cancelled", "Cancelled"]);
  });

  for (const [end, outcome, stream, of] of [
    ["CriticalFailure", refusal, "event", 0], ["Succeeded", success, "event", 0],
    ["CriticalFailure", refusal, "circuit", 1],
  ] as const) {
    for (const wasWritten of [true, false]) {
      const lost = wasWritten ? "the answer to an append" : "an append";
      it(`counts ${end} once, though ${lost} to the ${stream}'s stream was lost`, async () => {
        const id = await accept();
        await relay.deliveries.start(id);
        const { state, revision } = await loadWebhook(relay.store, id);
        const known = { state: state!, revision };
        const recording = outcomes.recording({ known, attempt: 1, outcome, origin });
        const append = relay.store.append.bind(relay.store);
        let appends = 0;
        relay.store.append = async (...asked) => {
          const isLost = (appends += 1) === of + 1;
          const appended = isLost && !wasWritten ? undefined : await append(...asked);
          if (!isLost && appended) return appended;
          throw new LogUnavailable("no answer");
        };
        expect(await recording.finish().catch((error: unknown) => error)).to.be.instanceOf(LogUnavailable);
        await recording.finish();
        expect(counted).to.deep.equal([end]);
      });
    }
  }

  it("counts the end by its own attempt and no other, though the event was replayed since", async () => {
    const id = await accept();
    await relay.deliveries.start(id);
    const { state, revision } = await loadWebhook(relay.store, id);
    const known = { state: state!, revision };
    const own = { ...origin, causationId: "its claim" };
    const recording = outcomes.recording({ known, attempt: 1, outcome: refusal, origin: own });
    const append = relay.store.append.bind(relay.store);
    relay.store.append = async (...asked) => {
      await append(...asked);
      throw new LogUnavailable("no answer");
    };
    expect(await recording.finish().catch((error: unknown) => error)).to.be.instanceOf(LogUnavailable);
    relay.store.append = append;
    await relay.deliveries.replay(id);
    await relay.deliveries.succeed(id);
    await recording.finish();
    expect(counted).to.deep.equal(["CriticalFailure"]);
  });

  it("counts a retried event once it ends, and not again for a late outcome of an earlier attempt", async () => {
    const id = await accept();
    await relay.deliveries.start(id);
    await relay.deliveries.lose(id);
    await attempted(id, refusal);
    await recorded(id, success, 1);
    expect(counted).to.deep.equal(["CriticalFailure"]);
    expect((await loadWebhook(relay.store, id)).state?.status).to.equal("Succeeded");
  });
});
