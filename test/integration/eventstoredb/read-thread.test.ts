import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { SystemClock } from "../../../src/adapters/system/system-clock.ts";
import { openEngines } from "../../../src/composition/engines/engines.ts";
import { until } from "../../contract/event-store/harness.ts";
import { Bench } from "./bench.ts";
import { quiet } from "../../support/telemetry.ts";

describe("the thread that projects what EventStoreDB holds", () => {
  it("tells that its subscription fails, in the log and in the metrics", async () => {
    const bench = await Bench.start();
    const dataDir = mkdtempSync(join(tmpdir(), "relay-read-thread-"));
    const troubles: string[] = [];
    const lines: string[] = [];
    const engines = await openEngines({
      config: {
        dataDir, eventStore: { engine: "eventstoredb", url: bench.server.url }, queue: { engine: "embedded" },
        readModels: { engine: "embedded" },
      },
      secrets: { oldMasterKeys: [], kafkaPassword: null },
      masterKey: new Uint8Array(32),
      projects: true,
      clock: new SystemClock(),
      logger: { ...quiet, warn: (_fields, line) => lines.push(line) },
      metrics: { trouble: (of) => troubles.push(of) },
      onFatal: (error) => {
        throw error;
      },
    });
    try {
      engines.projector?.follow();
      await until("it follows", () => bench.server.openSubscriptions === 1);
      bench.server.breakConnections();
      await until("it tells", () => lines.includes("a subscription to the log failed and is tried again"));
      expect(troubles).to.include("subscription");
    } finally {
      await engines.close();
      await bench.stop();
      rmSync(dataDir, { recursive: true });
    }
  });
});
