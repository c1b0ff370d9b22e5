import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";

const root = join(import.meta.dirname, "../../..");

/** A schema with the text of its file. */
interface Schema {
  description?: string;
  $comment?: string;
  examples?: unknown[];
  type?: unknown;
  format?: string;
  enum?: unknown[];
  minimum?: number;
  additionalProperties?: unknown;
  required: string[];
  properties: Record<string, Schema>;
  oneOf: Schema[];
}

describe("the check of schemas against those of the last release", () => {
  let project: string;

  const path = (name: string) => join(project, "schemas/events", `${name}.json`);
  const change = (name: string, edit: (schema: Schema) => void) => {
    const schema = JSON.parse(readFileSync(path(name), "utf8")) as Schema;
    edit(schema);
    writeFileSync(path(name), JSON.stringify(schema));
  };
  const add = (name: string) => writeFileSync(path(name), JSON.stringify({ type: "object" }));
  const changelog = (text: string) => writeFileSync(join(project, "CHANGELOG.md"), text);
  /** The lines that the check prints. It ends with code 1 exactly after faults. */
  const faults = () => {
    const script = join(root, "scripts/check-schemas.ts");
    const flags = ["--disable-warning=ExperimentalWarning"];
    const { stdout, stderr, status } = spawnSync(process.execPath, [...flags, script, project], { encoding: "utf8" });
    expect(stderr).to.equal("");
    const lines = stdout.split("\n").slice(0, -1);
    expect(status).to.equal(lines.length === 0 ? 0 : 1);
    return lines;
  };

  beforeEach(() => {
    project = mkdtempSync(join(tmpdir(), "relay-schemas-"));
    // An older release without any schema left in the folder does not count.
    mkdirSync(join(project, "test/releases/0.9.0"), { recursive: true });
    writeFileSync(join(project, "test/releases/0.9.0/schemas.json"), '{ "Former.v1": {} }');
    mkdirSync(join(project, "test/releases/0.10.0"));
    cpSync(join(root, "test/releases/0.2.0/schemas.json"), join(project, "test/releases/0.10.0/schemas.json"));
    mkdirSync(join(project, "schemas/events"), { recursive: true });
    const released = JSON.parse(readFileSync(join(project, "test/releases/0.10.0/schemas.json"), "utf8")) as object;
    for (const [name, schema] of Object.entries(released)) writeFileSync(path(name), JSON.stringify(schema));
    changelog("# Changelog\n");
  });

  afterEach(() => rmSync(project, { recursive: true, force: true }));

  const newVersion = "keep it as released, and give another meaning a new version";

  for (const [what, name, edit, fault] of [
    [
      "a field that is gone", "EventAccepted.v2", ({ properties }) => delete properties["original"],
      `#/properties/original: the field is gone: ${newVersion}`,
    ],
    [
      "a field that has become required", "CircuitOpened.v2", ({ required }) => required.push("pausedUntil"),
      "#/required: pausedUntil was not required: add it as an optional field instead, or make a new version",
    ],
    [
      "an added field that is required", "EventAccepted.v2", ({ required, properties }) => {
        properties["tag"] = { type: "string" } as Schema;
        required.push("tag");
      },
      "#/required: tag was not required: add it as an optional field instead, or make a new version",
    ],
    [
      "a field that is no longer required", "DeliveryFailed.v2",
      ({ properties }) => properties["answer"]!.required.pop(),
      `#/properties/answer/required: truncated is no longer required: ${newVersion}`,
    ],
    [
      "a field of another type", "DeliveryFailed.v2", ({ properties }) => (properties["attempt"]!.type = "string"),
      `#/properties/attempt/type: was "integer", is "string": ${newVersion}`,
    ],
    [
      "a field of a wider type", "EventAccepted.v2", ({ properties }) => (properties["at"]!.type = ["string", "null"]),
      `#/properties/at/type: was "string", is ["string","null"]: ${newVersion}`,
    ],
    [
      "one more value of an enumeration", "DestinationAuthConfigured.v1",
      ({ properties }) => properties["auth"]!.properties["type"]!.enum!.push("Mutual"),
      "#/properties/auth/properties/type/enum: was [\"ApiKey\",\"BearerToken\",\"JwtBearer\",\"BasicAuth\"], "
        + `is ["ApiKey","BearerToken","JwtBearer","BasicAuth","Mutual"]: ${newVersion}`,
    ],
    [
      "a format that is gone", "EventAccepted.v2", ({ properties }) => delete properties["at"]!.format,
      `#/properties/at/format: was "date-time", is absent: ${newVersion}`,
    ],
    [
      "another limit", "DeliveryFailed.v2", ({ properties }) => (properties["retryCount"]!.minimum = 1),
      `#/properties/retryCount/minimum: was 0, is 1: ${newVersion}`,
    ],
    [
      "an object that is open now", "EventAccepted.v2", (schema) => delete schema.additionalProperties,
      `#/additionalProperties: was false, is absent: ${newVersion}`,
    ],
    [
      "a map with values of another type", "DeliveryFailed.v2",
      ({ properties }) => (properties["requestHeaders"]!.additionalProperties = { type: "number" }),
      `#/properties/requestHeaders/additionalProperties/type: was "string", is "number": ${newVersion}`,
    ],
    [
      "a named field of a map", "DeliveryFailed.v2",
      ({ properties }) => (properties["requestHeaders"]!.properties = { "a/b": { type: "string" } as Schema }),
      `#/properties/requestHeaders/properties/a~1b: a field with any name was allowed here: ${newVersion}`,
    ],
    [
      "metadata with a field that has become required", "metadata", ({ required }) => required.push("salt"),
      "#/required: salt was not required: add it as an optional field instead, or make a new version",
    ],
    [
      "metadata with another kind of actor", "metadata",
      ({ properties }) => delete properties["actor"]!.oneOf[2]!.properties["role"],
      `#/properties/actor/oneOf/2/properties/role: the field is gone: ${newVersion}`,
    ],
  ] satisfies [string, string, (schema: Schema) => unknown, string][]) {
    it(`refuses ${what}`, () => {
      change(name, edit);
      expect(faults()).to.deep.equal([`${name}${fault}`]);
    });
  }

  it("refuses a missing version", () => {
    rmSync(path("EventsPurged.v1"));
    const fault = "EventsPurged.v1: was released with 0.10.0 and is gone: put it back, unchanged";
    expect(faults()).to.deep.equal([fault]);
  });

  it("accepts new optional fields at any depth, and other descriptions", () => {
    const tag = { type: ["string", "null"], description: "A tag." } as unknown as Schema;
    change("EventAccepted.v2", (schema) => {
      schema.description = "Other words.";
      schema.$comment = "For maintainers.";
      schema.examples = [{}];
      schema.properties["tag"] = tag;
      schema.properties["at"]!.description = "Other words.";
    });
    change("DeliveryFailed.v2", ({ properties }) => (properties["answer"]!.properties["tag"] = tag));
    change("metadata", ({ properties }) => {
      properties["tag"] = tag;
      properties["actor"]!.oneOf[0]!.properties["tag"] = tag;
    });
    expect(faults()).to.deep.equal([]);
  });

  it("requires new types and versions in the newest section of the changelog", () => {
    const heading = "### Not readable by 0.10.0";
    const fault = (name: string) =>
      `CHANGELOG.md: \`${name}\` is unknown to 0.10.0: name it under "${heading}" in the newest section`;
    add("EventAccepted.v3");
    add("EventTagged.v1");
    expect(faults()).to.deep.equal([fault("EventAccepted.v3"), fault("EventTagged.v1")]);
    const section = `${heading}\n\n- \`EventAccepted.v3\` has tags.\n- \`EventTagged.v1\`\n`;
    const older = "## 0.10.0\n\n### Added\n\n- Much.\n";
    changelog(`# Changelog\n\n## 0.11.0\n\n### Added\n\n- Tags.\n\n${older}\n${section}`);
    expect(faults()).to.deep.equal([fault("EventAccepted.v3"), fault("EventTagged.v1")]);
    changelog(`# Changelog\n\n## 0.11.0\n\n### Added\n\n- Tags.\n\n${section}\n### Fixed\n\n- All.\n\n${older}`);
    expect(faults()).to.deep.equal([]);
  });
});
