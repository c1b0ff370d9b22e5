import { expect } from "chai";
import { workOf } from "../../../../src/delivery/dispatch/forwarder.ts";
import type { SendOutcome } from "../../../../src/delivery/requests/outcome.ts";
import { LogUnavailable, logStart } from "../../../../src/kernel/ports/event-store.ts";
import type { WorkItem } from "../../../../src/kernel/ports/work-queue.ts";
import { createTenant, openIngest } from "../../../support/accounts.ts";
import { attemptEnded, tellCircuit } from "../../../support/circuits.ts";
import { http } from "../../../support/http.ts";
import { ManualRelay } from "../../../support/manual-relay.ts";
import { success } from "../../../support/outcomes.ts";
import { until, workerOf } from "../../../support/staged-worker.ts";

const atOnce = 64;
const waiting = 6;
const another = "0193a1b2-0000-7000-8000-00000000ffff";
/** The retry pause of a dispatcher whose log is unavailable. */
const pauseMs = 1_000;

describe("a delivery worker with many active destinations", () => {
  let relay: ManualRelay;
  let tenantId: string;
  let working: ReturnType<typeof workerOf>;
  /** The item of each destination's event. */
  let firsts: WorkItem[];
  /** The sent events, each with a function that lets its receiver answer. */
  let sent: Map<string, () => void>;

  beforeEach(async () => {
    relay = await ManualRelay.open();
    const { owner, ...tenant } = await createTenant(relay.api.url);
    ({ tenantId } = tenant);
    for (let n = 0; n < atOnce + waiting; n += 1) {
      const { path, apiKey } = await openIngest(owner.client, tenantId);
      const { status } = await http("POST", relay.api.url + path, { json: {}, headers: { "x-api-key": apiKey } });
      expect(status).to.equal(202);
    }
    await relay.drained();
    const { entries } = await relay.store.readLog(logStart, 10_000);
    firsts = entries.flatMap((entry) => (entry.unreadable === undefined ? workOf(entry) : []))
      .filter(({ kind }) => kind === "first");
    sent = new Map();
    working = workerOf(relay, ({ webhook }) => new Promise<SendOutcome>((resolve) => {
      sent.set(webhook.id, () => resolve(success));
    }));
    await working.worker.start();
  });
  afterEach(async () => {
    for (const answer of sent.values()) answer();
    await working.worker.stop(60_000);
    await relay.close();
  });

  const wakes = () => firsts.map(({ destinationId }) => ({ kind: "wake", destinationId, position: logStart }) as const);
  const take = (items: readonly WorkItem[]) => working.worker.take(items, working.session);

  /** Lets claims wait for or fail with `answer` from now on; the streams of claims so far. */
  function claimsMeet(answer: () => Promise<void>): ReadonlySet<string> {
    const met = new Set<string>();
    relay.store.beforeAppend = (stream, entries) => {
      if (entries[0]?.event.type !== "DeliveryAttemptStarted") return;
      met.add(stream);
      return answer();
    };
    return met;
  }

  it("sends to all of them, though no receiver answers", async () => {
    take(wakes());
    await until(() => sent.size === firsts.length);
  });

  it("probes all half-open circuits, though no receiver answers", async () => {
    const tell = async (command: Parameters<typeof tellCircuit>[2]) => {
      for (const { destinationId } of firsts) await tellCircuit(relay.api.world, { tenantId, destinationId }, command);
    };
    await tell(attemptEnded(another, false));
    relay.clock.advance(301_000);
    await tell({ type: "HalfOpen", lost: null });
    take(wakes());
    await until(() => sent.size === firsts.length);
  });

  for (const [title, before, call] of [
    ["were woken", async () => undefined, () => take(wakes())],
    ["stay under a new membership", async () => working.worker.take(wakes(), { alive: false }),
      () => working.worker.reassign(() => false, working.session)],
    ["have paused while the log was unavailable", async () => {
      relay.store.beforeStreamRead = () => { throw new LogUnavailable("away"); };
      take(wakes());
      await until(() => working.clock.pending.filter((ms) => ms === pauseMs).length === firsts.length);
      relay.store.beforeStreamRead = () => undefined;
    }, () => working.clock.advance(pauseMs)],
  ] as const) it(`lets a limited number of them claim at once when they ${title}`, async () => {
    await before();
    const answered = Promise.withResolvers<void>();
    const claims = claimsMeet(() => answered.promise);
    call();
    await until(() => claims.size >= atOnce);
    for (let turn = 0; turn < 200; turn += 1) await new Promise(setImmediate);
    expect([claims.size, sent.size]).to.deep.equal([atOnce, 0]);
    answered.resolve();
    await until(() => sent.size === firsts.length);
  });

  it("claims a queued event at once, while other woken destinations wait their turn", async () => {
    const answered = Promise.withResolvers<void>();
    const claims = claimsMeet(() => answered.promise);
    take(wakes().slice(1));
    await until(() => claims.size === atOnce);
    take(firsts.slice(0, 1));
    await until(() => claims.size === atOnce + 1);
    answered.resolve();
    await until(() => sent.size === firsts.length);
  });

  it("sends queued events while the due index does not answer", async () => {
    take(wakes().slice(0, 1));
    await until(() => sent.size === 1);
    // Attempts of an earlier owner, listed by the due index, are over by then.
    working.clock.advance(66_000);
    relay.models.caughtUp = () => new Promise(() => undefined);
    take([...wakes(), ...firsts].filter(({ destinationId }) => destinationId !== firsts[0]?.destinationId));
    await until(() => sent.size === firsts.length);
  });
});
