import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { backlogCounter } from "../../../projections/due/due.ts";
import { JsonEventCodec } from "../../../src/engines/event-codec/event-codec.ts";
import { pairOf } from "../../../src/engines/eventstoredb/positions.ts";
import { SystemClock } from "../../../src/engines/system/system-clock.ts";
import { streams } from "../../../src/kernel/domain/streams.ts";
import { timestamp } from "../../../src/kernel/domain/time.ts";
import { logStart, noStream } from "../../../src/kernel/ports/event-store.ts";
import { openEngines, type Engines } from "../../../src/main/engines/engines.ts";
import { until } from "../../contract/event-store/harness.ts";
import { History } from "../../support/histories.ts";
import { salt } from "../../support/recorded.ts";
import { quiet } from "../../support/telemetry.ts";
import { OwnBench } from "./bench.ts";

describe("the thread that projects the log of EventStoreDB", () => {
  let bench: OwnBench;
  let dataDir: string;
  let engines: Engines;
  let anomalies: string[];
  let lines: string[];

  beforeEach(async () => {
    bench = await OwnBench.start();
    dataDir = mkdtempSync(join(tmpdir(), "relay-read-thread-"));
    [anomalies, lines] = [[], []];
    engines = await openEngines({
      config: {
        dataDir, eventStore: { engine: "eventstoredb", url: bench.server.url }, queue: { engine: "embedded" },
        readModels: { engine: "embedded" },
      },
      secrets: { oldMasterKeys: [], kafkaPassword: null },
      masterKey: new Uint8Array(32),
      projects: true,
      clock: new SystemClock(),
      logger: { ...quiet, warn: (_fields, line) => lines.push(line) },
      metrics: { anomaly: (of) => anomalies.push(of) },
      onFatal: (error) => {
        throw error;
      },
    });
  });

  afterEach(async () => {
    await engines.close();
    await bench.stop();
    rmSync(dataDir, { recursive: true });
  });

  it("reports a failed subscription in the log and in the metrics", async () => {
    await engines.projector?.follow();
    await until("it follows", () => bench.server.openSubscriptions === 1);
    bench.server.breakConnections();
    await until("it tells", () => lines.includes("a subscription to the log failed and is tried again"));
    expect(anomalies).to.include("subscription");
  });

  it("does not count the entries that a scavenge left of an event", async () => {
    const store = await bench.client({ codec: new JsonEventCodec() });
    const steps = ["registerDestination", "issueKey", "accept", "startAttempt", "succeed"];
    const { told, webhooks } = new History(steps.map((action) => ({ action, which: 0, number: 1, after: 1_000 })));
    const [eventId = ""] = webhooks.keys();
    const stream = streams.event(eventId);
    const origin = { actor: { type: "anonymous" }, correlationId: "c", causationId: null } as const;
    const metadata = { ...origin, at: timestamp(0), salt };
    const entries = told.filter((one) => one.stream === stream)
      .map(({ fact: event }) => ({ id: crypto.randomUUID(), event, metadata }));
    await store.append(stream, noStream, entries.slice(0, 1));
    const { position } = await store.append(stream, 0, entries.slice(1));
    await store.deleteStream(stream);
    bench.server.scavenge(BigInt(pairOf(position).commit));
    expect((await store.readLog(logStart, 10)).entries).to.have.length(1);
    await engines.projector?.follow();
    expect(await engines.readModels.caughtUp(position, 30_000)).to.equal(true);
    const { tenantId } = entries[0]!.event.data as { readonly tenantId: string };
    const counted = [backlogCounter, `events/${tenantId}/*/Succeeded/all`, `events/${tenantId}/*/Processing/all`];
    expect(await Promise.all(counted.map((scope) => engines.readModels.sum(scope)))).to.deep.equal([0, 0, 0]);
  });
});
