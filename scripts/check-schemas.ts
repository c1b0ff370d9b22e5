/**
 * Holds the schemas of facts to those of the last release (`test/releases/<version>/schemas.json`). A program of that
 * release reads the facts of this one, so a schema that was released may only get optional fields and other words.
 * CHANGELOG.md names the types and versions that the last release cannot read at all. Prints a line for each fault, and
 * ends with code 1 after a fault. An argument names the project's folder, if it is another.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { isDeepStrictEqual } from "node:util";
import { factSchemas, type Schema } from "./fact-schemas.ts";

/** Where a schema is not as it was released. */
interface Change {
  /** A JSON pointer into the schema. */
  readonly pointer: string;
  readonly what: string;
}

const optionalField = "add it as an optional field instead";
const newVersion = "keep it as released, and give another meaning a new version";
/** Words for people: they change nothing that a reader checks. */
const annotations = ["title", "description", "examples", "$comment"];

const project = process.argv[2] ?? join(import.meta.dirname, "..");
const release = lastRelease();
const released = JSON.parse(textOf(`test/releases/${release}/schemas.json`)) as Readonly<Record<string, Schema>>;
const present = await factSchemas(project);

const faults = [
  ...Object.entries(released).flatMap(([name, schema]) => faultsOf(name, schema)),
  ...unnamed([...present.keys()].filter((name) => !(name in released))),
];
process.stdout.write(faults.map((fault) => `${fault}\n`).join(""));
process.exitCode = faults.length === 0 ? 0 : 1;

function faultsOf(name: string, schema: Schema): readonly string[] {
  const current = present.get(name);
  if (current === undefined) return [`${name}: was released with ${release} and is gone: put it back, unchanged`];
  return changesOf(schema, current, "").map(({ pointer, what }) => `${name}#${pointer}: ${what}`);
}

/** New types and versions that the newest section of the changelog does not name. */
function unnamed(names: readonly string[]): readonly string[] {
  return names.filter((name) => !isNamed(name)).map((name) =>
    `CHANGELOG.md: \`${name}\` is unknown to ${release}: name it under "### ${heading()}" in the newest section`);
}

/** Whether the newest section of the changelog tells that the last release cannot read this. */
function isNamed(name: string): boolean {
  const newest = textOf("CHANGELOG.md").split(/^## /m)[1] ?? "";
  const section = newest.split(/^### /m).find((part) => part.startsWith(`${heading()}\n`)) ?? "";
  return section.includes(`\`${name}\``);
}

function heading(): string {
  return `Not readable by ${release}`;
}

function changesOf(before: unknown, now: unknown, pointer: string): readonly Change[] {
  if (!isSchema(before) || !isSchema(now)) return changed(before, now, pointer);
  const keywords = new Set([...Object.keys(before), ...Object.keys(now)]);
  return [...keywords].filter((keyword) => !annotations.includes(keyword)).flatMap((keyword) => {
    const [old, current, at] = [before[keyword], now[keyword], below(pointer, keyword)];
    switch (keyword) {
      case "properties":
        return changedFields(old ?? {}, current ?? {}, at, isSchema(now["additionalProperties"]));
      case "required":
        return changedRequirements(old ?? [], current ?? [], at);
      case "additionalProperties":
      case "items":
        return changesOf(old, current, at);
      case "oneOf":
      case "anyOf":
      case "allOf":
        return changedAlternatives(old, current, at);
      default:
        return changed(old, current, at);
    }
  });
}

/** `isMap`: whether any name of a field was allowed, so that data with the added one may exist already. */
function changedFields(before: object, now: object, pointer: string, isMap: boolean): readonly Change[] {
  const current = new Map<string, unknown>(Object.entries(now));
  const added = [...current.keys()].filter((name) => !(name in before));
  return [
    ...Object.entries(before).flatMap(([name, schema]) => {
      const at = below(pointer, name);
      if (!current.has(name)) return [{ pointer: at, what: `the field is gone: ${newVersion}` }];
      return changesOf(schema, current.get(name), at);
    }),
    ...(isMap ? added : []).map((name) => (
      { pointer: below(pointer, name), what: `a field with any name was allowed here: ${newVersion}` })),
  ];
}

function changedRequirements(before: unknown, now: unknown, pointer: string): readonly Change[] {
  const [old, current] = [before as readonly string[], now as readonly string[]];
  return [
    ...current.filter((name) => !old.includes(name)).map((name) => (
      { pointer, what: `${name} was not required: ${optionalField}, or make a new version` })),
    ...old.filter((name) => !current.includes(name)).map((name) => (
      { pointer, what: `${name} is no longer required: ${newVersion}` })),
  ];
}

function changedAlternatives(before: unknown, now: unknown, pointer: string): readonly Change[] {
  const areLists = Array.isArray(before) && Array.isArray(now);
  if (!areLists || !now.slice(before.length).every(isNamedKind) || before.length > now.length) {
    return changed(before, now, pointer);
  }
  return before.flatMap((schema, index) => changesOf(schema, now[index], below(pointer, String(index))));
}

/** Whether an added alternative is of a kind, such as an actor's, that the changelog names. */
function isNamedKind(alternative: unknown): boolean {
  const { type } = (alternative as { readonly properties?: Readonly<Record<string, Schema>> }).properties ?? {};
  return typeof type?.["const"] === "string" && isNamed(type["const"]);
}

function changed(before: unknown, now: unknown, pointer: string): readonly Change[] {
  if (isDeepStrictEqual(before, now)) return [];
  return [{ pointer, what: `was ${shown(before)}, is ${shown(now)}: ${newVersion}` }];
}

function shown(value: unknown): string {
  return value === undefined ? "absent" : JSON.stringify(value);
}

/** True and false are schemas, too, but have no parts. */
function isSchema(value: unknown): value is Schema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function below(pointer: string, name: string): string {
  return `${pointer}/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`;
}

/** The newest version of which there is a record. */
function lastRelease(): string {
  const versions = readdirSync(join(project, "test/releases"), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .sort((one, other) => one.localeCompare(other, "en", { numeric: true }));
  return versions.at(-1)!;
}

function textOf(file: string): string {
  return readFileSync(join(project, file), "utf8");
}
