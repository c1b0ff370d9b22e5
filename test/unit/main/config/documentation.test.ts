import { readFileSync } from "node:fs";
import { expect } from "chai";
import { readConfig } from "../../../../src/main/config/config.ts";
import { readSecrets } from "../../../../src/main/config/secrets.ts";
import { variables, type Environment } from "../../../../src/main/config/variables.ts";

/** Rows of the tables: variable, default, meaning, danger. */
const rows = readFileSync(new URL("../../../../docs/configuration.md", import.meta.url), "utf8")
  .split("\n")
  .filter((line) => line.startsWith("| `"))
  .map((line) => line.split("|").slice(1, -1).map((cell) => cell.trim()));

describe("docs/configuration.md", () => {
  it("has one row for each variable, and no other rows", () => {
    expect(rows.map(([name]) => name).sort()).to.deep.equal(variables.map((name) => `\`${name}\``).sort());
  });

  it("gives each variable a meaning, in four columns", () => {
    for (const row of rows) {
      expect(row, row[0]).to.have.length(4);
      expect(row.slice(1, 3), row[0]).to.not.include("");
    }
  });

  it("shows the actual defaults", () => {
    const shown: Record<string, string> = {};
    for (const [name = "", standIn = ""] of rows) {
      if (standIn.startsWith("`")) shown[name.slice(1, -1)] = standIn.slice(1, -1);
    }
    expect(readConfig(shown)).to.deep.equal(readConfig({}));
    const cloud = { RELAY_OFFERING: "cloud" };
    expect(readConfig({ ...shown, ...cloud })).to.deep.equal(readConfig(cloud));
  });

  it("covers exactly the variables read from the environment", () => {
    const read = new Set<PropertyKey>();
    const full: Environment = {
      RELAY_EVENT_STORE: "eventstoredb", RELAY_EVENTSTOREDB_URL: "esdb://a",
      RELAY_READ_MODELS: "mongodb", RELAY_MONGODB_URL: "mongodb://a",
      RELAY_QUEUE: "kafka", RELAY_KAFKA_BROKERS: "a:1", RELAY_KAFKA_TLS: "true", RELAY_KAFKA_SASL_MECHANISM: "plain",
      RELAY_KAFKA_SASL_USERNAME: "u", RELAY_KAFKA_SASL_PASSWORD: "p",
      RELAY_OFFERING: "cloud", RELAY_TURNSTILE_SECRET: "t",
      RELAY_MASTER_KEY: Buffer.alloc(32).toString("base64"),
    };
    const env = new Proxy(full, { get: (target, name) => (read.add(name), target[String(name)]) });
    readSecrets(env, readConfig(env));
    expect([...read].sort()).to.deep.equal([...variables].sort());
  });
});
