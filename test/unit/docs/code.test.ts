import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect } from "chai";
import ts from "typescript";
import { collections } from "../../../projections/index.ts";
import { facts } from "../../../src/features/facts.ts";
import { streams } from "../../../src/kernel/domain/streams.ts";

const root = join(import.meta.dirname, "../../..");
const documents = globSync("{*,{docs,deploy,schemas,bench,demo,test,packages}/**/*}.md", {
  cwd: root, exclude: (path) => path.endsWith("node_modules"),
}).filter((path) => path !== "CHANGELOG.md");
const namedPath = /(?<![\w./@-])(?:src|projections|packages|schemas|test|bench|demo|scripts|deploy|docs)\/[\w./<>*{},…-]*[\w*}>]/g;

const textOf = (file: string): string => readFileSync(join(root, file), "utf8");

/** The modules that the program loads, those of its threads and processes included. */
function loaded(): ReadonlySet<string> {
  const found = new Set<string>();
  const wanted = ["src/main.ts"];
  for (let file = wanted.pop(); file !== undefined; file = wanted.pop()) {
    if (found.has(file)) continue;
    found.add(file);
    const text = textOf(file);
    const imports = ts.preProcessFile(text).importedFiles.map(({ fileName }) => fileName);
    const threads = [...text.matchAll(/new URL\(\s*[`"]([^`"]+)/g)].map(([, url = ""]) => url);
    for (const module of [...imports, ...threads]) {
      const path = join(dirname(file), module.replace("${extname(import.meta.url)}", ".ts"));
      if (path.endsWith(".ts") && existsSync(join(root, path))) wanted.push(path);
    }
  }
  return found;
}

/** The rows of the tables of a document, as the cells' code. */
function rowsOf(document: string): readonly (readonly (readonly string[])[])[] {
  return textOf(document).split("\n").filter((line) => line.startsWith("| `")).map((line) =>
    line.split("|").slice(1, -1).map((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, code = ""]) => code)));
}

describe("the documents name", () => {
  for (const document of documents) {
    it(`only files that exist: ${document}`, () => {
      for (const [path] of textOf(document).matchAll(namedPath)) {
        // Written by a benchmark, or any name in place of the angle brackets.
        if (path.startsWith("bench/results") || /[<…]/.test(path)) continue;
        const files = globSync([path, path.replace(/\.js$/, ".ts")], { cwd: root });
        expect(files, path).to.have.length.greaterThan(0);
      }
    });
  }
});

describe("the way of an event, file by file", () => {
  const rows = rowsOf("docs/an-event-file-by-file.md");

  it("names modules that the program loads, and functions and classes that they have", () => {
    const modules = loaded();
    expect(rows).to.have.length.greaterThan(40);
    for (const [[file = ""] = [], names = []] of rows) {
      expect(modules, file).to.include(file);
      for (const name of names) {
        expect(textOf(file), `${name} in ${file}`).to.match(new RegExp(`(?<![\\w.])${name}(?!\\w)`));
      }
    }
  });

  it("names facts, streams and collections that exist", () => {
    const known = [
      ...collections.map(({ name }) => name), ...Object.keys(streams).map((name) => `${name}-…`),
    ];
    for (const [, , what = [], touched = []] of rows) {
      for (const name of touched.filter((code) => !code.includes("/"))) expect(known).to.include(name);
      const types = what.filter((code) => /^[A-Z]\w+[a-z]$/.test(code));
      for (const type of types) expect([...facts.keys()]).to.include(type);
    }
  });
});
