import { existsSync, readFileSync } from "node:fs";
import { expect } from "chai";

const root = new URL("../../", import.meta.url);
const text = readFileSync(new URL("SECURITY.md", root), "utf8");
const filesIn = (line: string) => [...line.matchAll(/`((?:test|docs)\/[^`]+)`/g)].map(([, file]) => file ?? "");
const source = (file: string) => readFileSync(new URL(file, root), "utf8");

describe("SECURITY.md", () => {
  it("names only existing tests and documents", () => {
    const files = filesIn(text);
    expect(files.length).to.be.greaterThan(60);
    for (const file of files) expect(existsSync(new URL(file, root)), file).to.equal(true);
  });

  it("gives each attack of its tables a test", () => {
    const threats = text.slice(text.indexOf("## Who may attack"), text.indexOf("## Out of scope")).split("\n");
    const told = threats.filter((line) => line.startsWith("| ") && !/^\| (?:---|attack |mistake |\| attack)/.test(line));
    const without = told.filter((line) => filesIn(line).length === 0);
    expect(without).to.deep.equal([]);
  });

  it("lists S1 to S12, each with a test of that name", () => {
    for (let number = 1; number <= 12; number += 1) {
      const row = text.split("\n").find((line) => line.startsWith(`| S${number} |`)) ?? expect.fail(`no S${number}`);
      const title = new RegExp(`(?:describe|describeOnEngines|it)\\(["\`]S${number} `);
      for (const file of filesIn(row)) expect(title.test(source(file)), file).to.equal(true);
    }
  });
});
