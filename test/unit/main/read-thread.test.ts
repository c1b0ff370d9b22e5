import { closeSync, openSync, statSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { logPath } from "../../../packages/embedded-engine/src/index.ts";
import { SystemClock } from "../../../src/engines/system/system-clock.ts";
import { noStream } from "../../../src/kernel/ports/event-store.ts";
import { openEngines, type Engines } from "../../../src/main/engines/engines.ts";
import { note, until } from "../../contract/event-store/harness.ts";
import { openPlainStore, temporaryFolder } from "../../support/embedded-store.ts";
import { quiet } from "../../support/telemetry.ts";

describe("the thread of the read side", () => {
  const folder = temporaryFolder();
  const lines: object[] = [];
  const damages: string[] = [];
  const anomalies: string[] = [];
  let engines: Engines;

  before(async () => {
    const filled = await openPlainStore(folder.path);
    await filled.append("notes-1", noStream, Array.from({ length: 200 }, () => note("x".repeat(1_000))));
    await filled.close();
    writeFileSync(join(folder.path, "read-models.db"), "not a database".padEnd(4_096, "x"));
    engines = await openEngines({
      config: {
        dataDir: folder.path, eventStore: { engine: "embedded" }, queue: { engine: "embedded" },
        readModels: { engine: "embedded" },
      },
      secrets: { oldMasterKeys: [], kafkaPassword: null },
      masterKey: new Uint8Array(32),
      projects: true,
      clock: new SystemClock(),
      logger: { ...quiet, warn: (fields) => lines.push(fields), error: (_fields, message) => damages.push(message) },
      metrics: { anomaly: (of) => anomalies.push(of) },
      onFatal: (error) => {
        throw error;
      },
    });
  });

  after(async () => {
    await engines.close();
    folder.remove();
  });

  it("reports damaged read models that it meets while it opens", () => {
    expect(damages).to.deep.equal(["the read models are damaged: they are built again"]);
    expect(anomalies).to.deep.equal(["projection"]);
  });

  it("reports the cause when the log cannot be read", async () => {
    const firstRows = 4 * 8_192;
    const file = openSync(logPath(folder.path), "r+");
    writeSync(file, Buffer.alloc(statSync(logPath(folder.path)).size - firstRows, 0xff), 0, undefined, firstRows);
    closeSync(file);
    await engines.projector?.follow();
    await until("it tells", () => lines.length > 0);
    expect(lines[0]).to.have.nested.property("err.message", "the log cannot be read");
    expect(lines[0]).to.have.nested.property("err.cause.message").that.matches(/malformed/);
  });
});
