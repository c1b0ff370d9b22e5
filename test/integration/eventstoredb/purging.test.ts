import { randomUUID } from "node:crypto";
import { jsonEvent, StreamNotFoundError } from "@eventstore/db-client";
import { expect } from "chai";
import { collections, fingerprint } from "../../../projections/index.ts";
import { create } from "../../../projections/projection.ts";
import { purges, purging } from "../../../projections/purges/purges.ts";
import { JsonEventCodec } from "../../../src/engines/event-codec/event-codec.ts";
import { SystemClock } from "../../../src/engines/system/system-clock.ts";
import { SystemIds } from "../../../src/engines/system/system-ids.ts";
import { purges as tenantPurges, decide, noPurges } from "../../../src/features/purges/facts.ts";
import { Purger } from "../../../src/features/purges/worker.ts";
import { serveAll } from "../../../src/features/services.ts";
import { streams } from "../../../src/kernel/domain/streams.ts";
import { timestamp } from "../../../src/kernel/domain/time.ts";
import { Aggregates } from "../../../src/kernel/log/aggregates.ts";
import { serviceOrigin } from "../../../src/kernel/log/origin.ts";
import { failureOf } from "../../contract/event-store/harness.ts";
import { InMemoryReadModels } from "../../support/in-memory-read-models.ts";
import { quiet, uncounted } from "../../support/telemetry.ts";
import { OwnBench } from "./bench.ts";

describe("a purge of events in EventStoreDB", () => {
  let bench: OwnBench;
  beforeEach(async () => { bench = await OwnBench.start(); });
  afterEach(() => bench.stop());

  it("finishes a deletion that broke off between its two steps", async () => {
    const stranger = bench.stranger();
    const [tenantId, eventId, purgeId] = [randomUUID(), randomUUID(), randomUUID()];
    const stream = streams.event(eventId);
    await stranger.appendToStream(stream, [
      jsonEvent({ type: "EventAccepted", data: { eventId } }), jsonEvent({ type: "$relay-fence", data: {} }),
    ]);
    const [clock, ids] = [new SystemClock(), new SystemIds()];
    const store = await bench.client({ codec: new JsonEventCodec() });
    const aggregates = new Aggregates(store, { clock, ids }, { max: 10 });
    serveAll(aggregates);
    const filter = { before: null, status: null, destinationId: null };
    const told = { tenantId, purgeId, filter, upTo: await store.head(), matched: 1, at: timestamp(clock.now()) };
    await aggregates.change(tenantPurges, tenantId, serviceOrigin("retention", ids), (state = noPurges) =>
      decide(state, { type: "PurgeEvents", ...told }));
    const readModels = new InMemoryReadModels();
    await readModels.reset(collections, fingerprint);
    const position = await store.head();
    const further = {
      senderId: null, eventType: null, ownerId: null, messageId: null, correlationId: null, tags: null,
      finishedFrom: null, finishedTo: null,
    };
    const places = { position, upTo: told.upTo, hiding: false, completed: false };
    const purge = { id: purgeId, tenantId, ...filter, ...further, ...places };
    await readModels.amend([create(purges, purge), create(purging, { eventId, purgeId, messageId: null })]);

    const purger = new Purger({ store, aggregates, readModels, clock, ids, logger: quiet, metrics: uncounted });
    while ((await aggregates.current(tenantPurges, tenantId)).state?.underWay.length) await purger.step(() => false);

    const left = async () => {
      for await (const { event } of stranger.readStream(stream)) expect.fail(`${event?.type} is still there`);
    };
    expect(await failureOf(left())).to.be.instanceOf(StreamNotFoundError);
  });
});
