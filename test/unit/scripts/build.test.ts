import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect } from "chai";

const script = join(import.meta.dirname, "../../../scripts/build.js");

describe("the build", () => {
  let project: string;

  const source = (file: string, text: string) => {
    mkdirSync(dirname(join(project, file)), { recursive: true });
    writeFileSync(join(project, file), text);
  };
  const build = () => execFileSync(process.execPath, [join(project, "scripts/build.js")], { encoding: "utf8" });
  const built = (file: string) => join(project, "build", file);

  beforeEach(() => {
    project = mkdtempSync(join(tmpdir(), "relay-build-"));
    mkdirSync(join(project, "scripts"));
    cpSync(script, join(project, "scripts/build.js"));
    source("package.json", '{ "type": "module" }');
    source("schemas/fact.json", '{ "title": "a fact" }');
    source("projections/one.ts", "export const one: number = 1;\n");
  });

  afterEach(() => rmSync(project, { recursive: true, force: true }));

  it("runs like the source: modules, threads, JSON", () => {
    source("src/thread.ts", [
      'import { parentPort } from "node:worker_threads";',
      'parentPort?.postMessage("thread" as string);',
    ].join("\n"));
    source("src/main.ts", [
      'import { once } from "node:events";',
      'import { Worker } from "node:worker_threads";',
      'import fact from "../schemas/fact.json" with { type: "json" };',
      'import type { Nothing } from "./nothing.ts";',
      'import { one } from "../projections/one.ts";',
      'const { one: again } = await import("../projections/one.ts");',
      'const [said] = await once(new Worker(new URL("./thread.ts", import.meta.url)), "message") as [Nothing];',
      "console.log(one + again, said, fact.title);",
    ].join("\n"));
    source("src/nothing.ts", "export type Nothing = string;\n");
    build();
    rmSync(join(project, "src"), { recursive: true });
    rmSync(join(project, "projections"), { recursive: true });
    expect(execFileSync(process.execPath, [built("src/main.js")], { encoding: "utf8" })).to.equal("2 thread a fact\n");
  });

  it("keeps the source's lines and columns in stack traces", () => {
    const text = [
      'import type { Nothing } from "./nothing.ts";',
      "interface Bag {\n  readonly given: Nothing;\n}",
      "function fail<T extends Bag>(bag: T): never { throw new Error(String(bag.given)); }",
      'fail({ given: "here" } as const);',
    ].join("\n");
    source("src/main.ts", text);
    source("src/nothing.ts", "export type Nothing = string;\n");
    build();
    const { stderr } = spawnSync(process.execPath, [built("src/main.js")], { encoding: "utf8" });
    const column = text.split("\n")[4]!.indexOf("new Error") + 1;
    expect(stderr).to.contain(`at fail (${new URL(`file://${built("src/main.js")}`).href}:5:${column})`);
  });

  it("follows the source: changed files are replaced, deleted ones removed", () => {
    source("src/old.ts", "export {};\n");
    build();
    rmSync(join(project, "src/old.ts"));
    source("projections/one.ts", "export const one: number = 2;\n");
    source("schemas/fact.json", "{}");
    build();
    expect(existsSync(built("src/old.js"))).to.be.false;
    expect(readFileSync(built("projections/one.js"), "utf8")).to.match(/^export const one *= 2;\n$/);
    expect(readFileSync(built("schemas/fact.json"), "utf8")).to.equal("{}");
  });

  it("writes nothing without a change, so that a checkout may be read-only", () => {
    source("src/main.ts", "export {};\n");
    build();
    const files = ["src/main.js", "projections/one.js", "schemas/fact.json", "package.json"];
    const before = files.map((file) => statSync(built(file)).ino);
    expect(build()).to.equal("");
    expect(files.map((file) => statSync(built(file)).ino)).to.deep.equal(before);
  });

  it("names the missing program if Node cannot read TypeScript", () => {
    source("src/main.ts", "export {};\n");
    source("scripts/old-node.mjs", [
      'import * as module from "node:module";',
      "delete module.default.stripTypeScriptTypes;",
      "module.syncBuiltinESMExports();",
    ].join("\n"));
    const { status, stderr } = spawnSync(process.execPath, [
      "--import", join(project, "scripts/old-node.mjs"), join(project, "scripts/build.js"),
    ], { encoding: "utf8" });
    expect([status, stderr]).to.deep.equal([
      1, "node_modules/.bin/node is missing: run npm rebuild node --ignore-scripts=false\n",
    ]);
  });
});
