import { expect } from "chai";
import { circuits, destinations, serveAll } from "../../../src/application/aggregate-types.ts";
import { Aggregates } from "../../../src/application/aggregates.ts";
import { DueIndex } from "../../../src/application/delivery/due-index.ts";
import { Outcomes, type Outcome } from "../../../src/application/delivery/outcomes.ts";
import type { Sender } from "../../../src/application/delivery/sender.ts";
import type { ServiceParts } from "../../../src/application/services.ts";
import { loadWebhook } from "../../../src/application/webhooks.ts";
import { streams } from "../../../src/domain/streams.ts";
import { logStart } from "../../../src/ports/event-store.ts";
import { Attempts } from "../../../src/workers/delivery/attempts.ts";
import { DeliveryWorker } from "../../../src/workers/delivery/delivery-worker.ts";
import { createTenant, openIngest } from "../../support/accounts.ts";
import { quiet, uncounted } from "../../support/api.ts";
import { attemptEnded, tellCircuit } from "../../support/circuits.ts";
import { http } from "../../support/http.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { Bench } from "../../support/purge-bench.ts";

const success = {
  ok: true, durationMs: 9, requestHeaders: {}, answer: { statusCode: 204, headers: {}, body: "", truncated: false },
} as const satisfies Outcome;

/** Whose work is held, and by whom. */
interface Held {
  readonly owner: Awaited<ReturnType<typeof createTenant>>["owner"];
  readonly world: ServiceParts;
  readonly tenantId: string;
  readonly destinationId: string;
}

function isHeld(aggregates: Aggregates, destinationId: string): boolean {
  const circuit = aggregates.peek(circuits, destinationId)?.state;
  return !aggregates.peek(destinations, destinationId)?.state?.active || circuit?.position === "Open";
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise(setImmediate);
}

/** A delivery worker beside the API of a bench, its membership, and what it knows of the log: it forgets nothing. */
function workerOf({ api: { world }, store, models }: Bench, send: Sender["send"]) {
  const clock = new ManualClock();
  const aggregates = new Aggregates(store, { clock, ids: world.ids }, { max: 100 });
  serveAll(aggregates);
  const following = { after: logStart, categories: aggregates.categories };
  const feed = store.subscribe(following, (entries) => aggregates.follow(entries));
  const session = { alive: true };
  const queue = {
    publish: async () => undefined,
    consume: async () => ({
      stop: async () => {
        session.alive = false;
        await feed.stop();
      },
    }),
  };
  const known = { ...world, clock, aggregates, logger: quiet };
  const outcomes = new Outcomes({ ...known, retry: { scheduleMs: [1], jitter: 0 } });
  const parts = { ...known, metrics: uncounted, workerId: "w1", deliveryTimeoutMs: 15_000, outcomes };
  const attempts = new Attempts({ ...parts, sender: { send } as unknown as Sender });
  const worker = new DeliveryWorker(queue, world.firstAttempts, {
    ...parts, log: store, dueIndex: new DueIndex(models), attempts,
  });
  return { worker, session, aggregates };
}

describe("a delivery worker", () => {
  let bench: Bench;

  beforeEach(async () => {
    bench = await Bench.open();
  });
  afterEach(() => bench.close());

  it("has stopped once what came of its attempts is recorded, and not before", async () => {
    const { owner, tenantId } = await createTenant(bench.api.url);
    const { path, apiKey, destinationId } = await openIngest(owner.client, tenantId);
    const sent = Promise.withResolvers<void>();
    const answered = Promise.withResolvers<Outcome>();
    const { worker, session } = workerOf(bench, () => (sent.resolve(), answered.promise));
    await worker.start();
    const headers = { "x-api-key": apiKey };
    const eventId = String((await http("POST", bench.api.url + path, { json: {}, headers })).json["eventId"]);
    await bench.drained();
    worker.take([{ kind: "wake", destinationId, position: "" }], session);
    await sent.promise;

    const written = Promise.withResolvers<void>();
    const reached = Promise.withResolvers<void>();
    bench.store.beforeAppend = (stream) => {
      if (stream !== streams.event(eventId)) return undefined;
      reached.resolve();
      return written.promise;
    };
    let stopped = false;
    const stopping = worker.stop(60_000).then(() => (stopped = true));
    answered.resolve(success);
    await reached.promise;
    await new Promise(setImmediate);
    expect(stopped).to.equal(false);
    written.resolve();
    await stopping;
    expect((await loadWebhook(bench.store, eventId)).state?.status).to.equal("Succeeded");
  });

  for (const [title, hold] of [
    ["was Inactive", async ({ owner, destinationId }) => {
      await owner.client.patch(`/api/v1/destinations/${destinationId}`, { status: "inactive" });
    }],
    ["was Suspended", ({ world, tenantId, destinationId }) =>
      tellCircuit(world, { tenantId, destinationId }, attemptEnded("another", false))],
  ] as const satisfies [string, (held: Held) => Promise<void>][]) {
    it(`lets nothing go before what was held while its destination ${title}`, async () => {
      const { owner, tenantId } = await createTenant(bench.api.url);
      const { path, apiKey, destinationId } = await openIngest(owner.client, tenantId);
      const destination = `/api/v1/destinations/${destinationId}`;
      await owner.client.patch(destination, { serverRateLimit: 1 });
      const sent: { eventId: string; answer: () => void }[] = [];
      const { worker, session, aggregates } = workerOf(bench, ({ webhook }) => new Promise<Outcome>((resolve) => {
        sent.push({ eventId: webhook.id, answer: () => resolve(success) });
      }));
      await worker.start();
      const post = async () => {
        const answer = await http("POST", bench.api.url + path, { json: {}, headers: { "x-api-key": apiKey } });
        expect(answer.status).to.equal(202);
        await bench.drained();
        return String(answer.json["eventId"]);
      };
      const ids = [await post()];
      worker.take([{ kind: "wake", destinationId, position: "" }], session);
      await until(() => sent.length === 1);
      ids.push(await post());
      await hold({ owner, world: bench.api.world, tenantId, destinationId });
      await until(() => isHeld(aggregates, destinationId));
      worker.take([{ kind: "wake", destinationId, position: "" }], session);
      await owner.client.patch(destination, { status: "active", serverRateLimit: 2 });
      await until(() => aggregates.peek(destinations, destinationId)?.state?.serverRateLimit === 2);
      // There is room, but another event waits.
      ids.push(await post());
      expect(sent).to.have.length(1);
      for (const [n] of ids.entries()) {
        await until(() => sent.length > n);
        sent[n]?.answer();
      }
      expect(sent.map(({ eventId }) => eventId)).to.deep.equal(ids);
      await worker.stop(60_000);
    });
  }
});
