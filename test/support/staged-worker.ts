import { expect } from "chai";
import { Attempts } from "../../src/delivery/dispatch/attempts.ts";
import { Claims } from "../../src/delivery/dispatch/claims.ts";
import { DeliveryWorker } from "../../src/delivery/dispatch/delivery-worker.ts";
import type { DeliveryClient } from "../../src/delivery/requests/delivery-client.ts";
import { DueIndex } from "../../src/delivery/requests/due-index.ts";
import type { SendOutcome } from "../../src/delivery/requests/outcome.ts";
import { Outcomes } from "../../src/delivery/requests/recording.ts";
import { circuits } from "../../src/features/circuits/facts.ts";
import { destinations } from "../../src/features/destinations/facts.ts";
import { loadWebhook } from "../../src/features/events/webhooks.ts";
import { serveAll } from "../../src/features/services.ts";
import { Aggregates } from "../../src/kernel/log/aggregates.ts";
import { logStart } from "../../src/kernel/ports/event-store.ts";
import type { WorkItem } from "../../src/kernel/ports/work-queue.ts";
import { createTenant, openIngest } from "./accounts.ts";
import { tellCircuit } from "./circuits.ts";
import { http } from "./http.ts";
import { ManualClock } from "./manual-clock.ts";
import type { ManualRelay } from "./manual-relay.ts";
import { success } from "./outcomes.ts";
import { quiet, uncounted } from "./telemetry.ts";

/** Whether a destination is known to be Inactive or Suspended. */
export function isHeld(aggregates: Aggregates, destinationId: string): boolean {
  const circuit = aggregates.peek(circuits, destinationId)?.state;
  return !aggregates.peek(destinations, destinationId)?.state?.active || circuit?.position === "Open";
}

/** A loop that nothing ends would outlive its test. */
const patienceMs = 60_000;

/** Resolves once it is so. Rejects, with the condition's source, when it takes too long. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  const end = performance.now() + patienceMs;
  while (!(await condition())) {
    if (performance.now() > end) throw new Error(`waited in vain until ${String(condition)}`);
    await new Promise(setImmediate);
  }
}

/** A delivery worker beside a relay, its membership, and its aggregates, kept while its clock stands still. */
export function workerOf(
  { api: { world }, store, models }: ManualRelay,
  send: DeliveryClient["send"],
  room?: { readonly sendingCharacters: number },
) {
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
  const workers = { isGone: () => false, hold: () => () => undefined };
  const parts = { ...known, metrics: uncounted, workerId: "w1", workers, deliveryTimeoutMs: 15_000, outcomes };
  const attempts = new Attempts({ ...parts, client: { send } as unknown as DeliveryClient });
  const worker = new DeliveryWorker(queue, world.firstAttempts, {
    ...parts, log: store, dueIndex: new DueIndex(models), claims: new Claims(parts), attempts,
  }, room);
  return { worker, session, aggregates, clock, feed };
}

/** A destination that takes one request at a time, its worker, and the requests to it; `outcome` answers each. */
export async function stage(
  relay: ManualRelay, room?: { readonly sendingCharacters: number }, outcome: SendOutcome = success,
) {
  const { owner, tenantId } = await createTenant(relay.api.url);
  const { path, apiKey, destinationId } = await openIngest(owner.client, tenantId);
  const patch = (changes: object) => owner.client.patch(`/api/v1/destinations/${destinationId}`, changes);
  await patch({ serverRateLimit: 1 });
  const sent: { eventId: string; answer: (outcome?: SendOutcome) => void }[] = [];
  const working = workerOf(relay, ({ webhook }) => new Promise<SendOutcome>((resolve) => {
    sent.push({ eventId: webhook.id, answer: (given = outcome) => resolve(given) });
  }), room);
  const { worker, session } = working;
  await worker.start();
  const ask = (key?: string) => {
    const headers = { "x-api-key": apiKey, ...(key !== undefined && { "x-idempotency-key": key }) };
    return http("POST", relay.api.url + path, { json: {}, headers });
  };
  return {
    ...working, patch, sent, destinationId, tenantId,
    /** Another destination of the tenant. */
    openAnother: () => openIngest(owner.client, tenantId),
    remove: () => owner.client.delete(`/api/v1/destinations/${destinationId}`),
    take: (...items: WorkItem[]) => worker.take(items, session),
    tell: (...commands: Parameters<typeof tellCircuit>[2][]) =>
      tellCircuit(relay.api.world, { tenantId, destinationId }, ...commands),
    /** The first types of an event's stream: its acceptance, and the claim of its first attempt, if any. */
    begun: async (id: string) => (await loadWebhook(relay.store, id)).facts.map(({ type }) => type).slice(0, 2),
    purge: () => owner.client.post("/api/v1/events/purge", {}),
    cancel: (id: string) => owner.client.post(`/api/v1/events/${id}/cancel`, {}),
    ask,
    post: async (key?: string) => {
      const answer = await ask(key);
      expect(answer.status).to.equal(202);
      await relay.drained();
      return String(answer.json["eventId"]);
    },
    /** Posts a message that is delivered to the destination alone; resolves to the id of the delivery. */
    postMessage: async () => {
      const { id: senderId, ingestToken } = await owner.client.api.createSender({ name: "Billing", fanOut: true });
      await owner.client.api.createSubscription({ senderId, destinationUrlId: destinationId });
      const url = `${relay.api.url}/api/v1/ingest/${tenantId}/${ingestToken}`;
      const answer = await http("POST", url, { json: {}, headers: { "x-api-key": apiKey } });
      await relay.drained();
      const [delivery] = answer.json["deliveries"] as readonly { readonly eventId: string }[];
      return delivery!.eventId;
    },
    /** Sends a test event. */
    test: async () => {
      const answer = await owner.client.post(`/api/v1/destinations/${destinationId}/test`, {});
      expect(answer.status).to.equal(202);
      await relay.drained();
      return String(answer.json["id"]);
    },
    /** Answers so many requests, one after the other; resolves to the events of all requests. */
    answered: async (count: number) => {
      for (let n = 0; n < count; n += 1) {
        await until(() => sent.length > n);
        sent[n]?.answer();
      }
      return sent.map(({ eventId }) => eventId);
    },
  };
}

export type Stage = Awaited<ReturnType<typeof stage>>;
