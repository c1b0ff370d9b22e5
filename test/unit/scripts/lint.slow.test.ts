import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";

const project = join(import.meta.dirname, "../../..");
const cacheFile = "node_modules/.cache/lint/files.json";
const port = `/** What time it is. */
export interface Clock {
  now(): number;
  stop(): void;
}
`;
const files: Readonly<Record<string, string>> = {
  "package.json": '{"type": "module"}',
  "tsconfig.json": JSON.stringify({
    compilerOptions: {
      strict: true, module: "NodeNext", target: "ES2024", types: [], noEmit: true, allowImportingTsExtensions: true,
    },
    include: ["src"],
  }),
  "eslint.config.js": `import { defineConfig } from "eslint/config";
import tseslint from "typescript-eslint";
import { rules } from "./rules.js";
const languageOptions = { parserOptions: { projectService: true } };
export default defineConfig({ files: ["**/*.ts"], extends: [tseslint.configs.base], languageOptions, rules });
`,
  "rules.js":
    'export const rules = {"@typescript-eslint/no-floating-promises": 2, "@typescript-eslint/no-deprecated": 2};',
  "src/port.ts": port,
  "src/middle.ts": 'import type { Clock } from "./port.ts";\n\n'
    + "export const halves = (clock: Clock) => ({ clock, half: 2 });\n",
  "src/importer.ts": 'import { halves } from "./middle.ts";\n\n'
    + "export function stopped(given: Parameters<typeof halves>[0]): number {\n"
    + "  const { clock } = halves(given);\n  clock.stop();\n  return clock.now() / 2;\n}\n",
  "src/other.ts": "export const other = () => 1;\n",
  "src/reader.ts": 'import { other } from "./other.ts";\n\nexport const twice = (): number => other() * 2;\n',
};

describe("the lint", () => {
  let folder: string;
  let cache: string;

  before(() => {
    // Inside the project, so that its packages are found.
    mkdirSync(join(project, "build"), { recursive: true });
    folder = mkdtempSync(join(project, "build/lint-"));
    mkdirSync(join(folder, "src"));
    for (const [name, text] of Object.entries(files)) write(name, text);
    expect(lint()).to.deep.equal({ status: 0, checked: 5, output: "" });
    cache = readFileSync(join(folder, cacheFile), "utf8");
  });

  afterEach(() => {
    for (const [name, text] of Object.entries({ ...files, [cacheFile]: cache })) write(name, text);
    rmSync(join(folder, "src/globals.ts"), { force: true });
  });

  after(() => {
    rmSync(folder, { recursive: true });
  });

  const write = (name: string, text: string) => {
    writeFileSync(join(folder, name), text);
  };

  const lint = () => {
    const script = join(project, "scripts/lint.js");
    const { status, stdout, stderr } = spawnSync(process.execPath, [script], { cwd: folder, encoding: "utf8" });
    expect(stderr).to.equal("");
    const [line, checked] = /^types and style: \d+ modules, (\d+) of them checked\n/m.exec(stdout) ?? ["", NaN];
    return { status, checked: Number(checked), output: stdout.replace(line, "") };
  };

  it("checks a module again if its text has changed, and no importer that sees no change", () => {
    expect(lint()).to.deep.equal({ status: 0, checked: 0, output: "" });
    write("src/other.ts", "export const other = () => 1 + 1;\n");
    expect(lint()).to.deep.equal({ status: 0, checked: 1, output: "" });
  });

  it("finds the type error that a change of a port makes in a module that imports it through another", () => {
    write("src/port.ts", port.replace("number", "bigint"));
    const { status, output } = lint();
    expect(status).to.equal(1);
    expect(output).to.include("src/importer.ts").and.include("TS2365");
    expect(lint()).to.have.property("status", 1);
    write("src/port.ts", port);
    expect(lint()).to.have.property("status", 0);
  });

  for (const [what, changed, rule] of [
    ["a promise without await", port.replace("stop(): void", "stop(): Promise<void>"), "no-floating-promises"],
    ["a call of a deprecated function", port.replace("  stop", "  /** @deprecated */\n  stop"), "no-deprecated"],
  ] as const) {
    it(`finds ${what} after a change of a port, in a module that imports it through another`, () => {
      write("src/port.ts", changed);
      for (const _ of ["the first time", "again"]) {
        const { status, output } = lint();
        expect(status).to.equal(1);
        expect(output).to.include("src/importer.ts").and.include(rule);
      }
    });
  }

  it("finds the change of an inferred type, and a missing module", () => {
    write("src/other.ts", 'export const other = () => "1";\n');
    expect(lint().output).to.include("src/reader.ts").and.include("TS2362");
    rmSync(join(folder, "src/other.ts"));
    expect(lint().output).to.include("src/reader.ts").and.include("TS2307");
  });

  it("checks everything again after a change of its settings", () => {
    write("tsconfig.json", files["tsconfig.json"]?.replace('"strict":true', '"strict":false') ?? "");
    expect(lint()).to.deep.equal({ status: 0, checked: 5, output: "" });
    write("rules.js", 'export const rules = {"@typescript-eslint/no-magic-numbers": 2};');
    expect(lint()).to.have.property("status", 1);
  });

  it("checks everything again after a change of a module that declares globals", () => {
    write("src/globals.ts", "declare global {\n  const once: number;\n}\n\nexport const used = 1;\n");
    expect(lint()).to.deep.equal({ status: 0, checked: 6, output: "" });
    write("src/other.ts", "export const other = () => once;\n");
    expect(lint()).to.have.property("status", 0);
    write("src/globals.ts", "export const used = 1;\n");
    expect(lint().output).to.include("src/other.ts").and.include("TS2304");
  });
});
