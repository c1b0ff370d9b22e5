import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { withReadModels } from "../../../../src/main/operator/reports.ts";
import { quiet } from "../../../support/telemetry.ts";

describe("the read models that an operator's command opens", () => {
  let dataDir: string;

  beforeEach(() => { dataDir = mkdtempSync(join(tmpdir(), "stored-read-models-")); });
  afterEach(() => rmSync(dataDir, { recursive: true }));

  /** The error that keeps them from being opened. */
  const problem = (readModels: Parameters<typeof withReadModels>[0]["readModels"]) =>
    withReadModels({ dataDir, readModels }, quiet, async () => "none").catch((error: unknown) => String(error));

  it("fail with the variable's name where the file is missing or is no database", async () => {
    const file = join(dataDir, "read-models.db");
    expect(await problem({ engine: "embedded" })).to.equal(
      `Error: RELAY_DATA_DIR: ${file} is not there: start the relay once`);
    writeFileSync(file, "no database at all, ".repeat(1_000));
    expect(await problem({ engine: "embedded" })).to.equal(`Error: RELAY_DATA_DIR: ${file}: file is not a database`);
  });

  it("fail with the variable's name where the URL is not valid", async () => {
    const url = "mongodb://localhost:99999";
    expect(await problem({ engine: "mongodb", url })).to.match(/^Error: RELAY_MONGODB_URL: Unable to parse/);
  });
});
