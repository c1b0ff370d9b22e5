import { expect } from "chai";
import { DueIndex } from "../../../src/application/delivery/due-index.ts";
import { FirstAttempts } from "../../../src/application/delivery/first-attempts.ts";
import { Outcomes, type Outcome } from "../../../src/application/delivery/outcomes.ts";
import type { Sender } from "../../../src/application/delivery/sender.ts";
import { loadWebhook } from "../../../src/application/webhooks.ts";
import { streams } from "../../../src/domain/streams.ts";
import { Attempts } from "../../../src/workers/delivery/attempts.ts";
import { DeliveryWorker } from "../../../src/workers/delivery/delivery-worker.ts";
import { createTenant, openIngest } from "../../support/accounts.ts";
import { quiet, uncounted } from "../../support/api.ts";
import { http } from "../../support/http.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { Bench } from "../../support/purge-bench.ts";

const success = {
  ok: true, durationMs: 9, requestHeaders: {}, answer: { statusCode: 204, headers: {}, body: "", truncated: false },
} as const satisfies Outcome;

describe("a delivery worker", () => {
  let bench: Bench;

  beforeEach(async () => {
    bench = await Bench.open();
  });
  afterEach(() => bench.close());

  it("has stopped once what came of its attempts is recorded, and not before", async () => {
    const { owner, tenantId } = await createTenant(bench.api.url);
    const { path, apiKey, destinationId } = await openIngest(owner.client, tenantId);
    const session = { alive: true };
    const queue = {
      publish: async () => undefined,
      consume: async () => ({ stop: async () => void (session.alive = false) }),
    };
    const sent = Promise.withResolvers<void>();
    const answered = Promise.withResolvers<Outcome>();
    const sender = { send: () => (sent.resolve(), answered.promise) } as unknown as Sender;
    const parts = {
      ...bench.api.world, clock: new ManualClock(), logger: quiet, metrics: uncounted, workerId: "w1",
      deliveryTimeoutMs: 15_000, outcomes: new Outcomes({ ...bench.api.world, retry: { scheduleMs: [1], jitter: 0 } }),
    };
    const worker = new DeliveryWorker(queue, new FirstAttempts(), {
      ...parts, log: bench.store, dueIndex: new DueIndex(bench.models), attempts: new Attempts({ ...parts, sender }),
    });
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
});
