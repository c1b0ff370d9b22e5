import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";

const root = join(import.meta.dirname, "../../..");
const generated = ["schemas/api.ts", "packages/client/src/operations.ts"];

describe("the types of the API", () => {
  let project: string;
  beforeEach(() => {
    project = mkdtempSync(join(tmpdir(), "relay-api-types-"));
    for (const file of ["package.json", "scripts/api-types.ts", ...generated]) {
      cpSync(join(root, file), join(project, file));
    }
    for (const folder of ["src", "node_modules"]) symlinkSync(join(root, folder), join(project, folder));
  });
  afterEach(() => rmSync(project, { recursive: true, force: true }));

  const run = (...options: readonly string[]) => {
    const script = join(project, "scripts/api-types.ts");
    return spawnSync(process.execPath, ["--no-warnings", script, ...options], { encoding: "utf8" });
  };
  const textOf = (folder: string, file: string) => readFileSync(join(folder, file), "utf8");

  it("are committed in their current form", () => {
    expect(run("--check")).to.include({ status: 0, stderr: "" });
  });

  for (const file of generated) {
    it(`fail the check where ${file} is not current, which names the command; that writes it`, () => {
      writeFileSync(join(project, file), `${textOf(project, file)}// more\n`);
      const { status, stderr } = run("--check");
      expect([status, stderr]).to.deep.equal(
        [1, `${file} is not what the schemas and routes say: run npm run api-types\n`],
      );
      expect(run().status).to.equal(0);
      for (const each of generated) expect(textOf(project, each)).to.equal(textOf(root, each));
    });
  }
});
