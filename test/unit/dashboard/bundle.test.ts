import { globSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect } from "chai";

const project = join(import.meta.dirname, "../../..");
const assets = join(project, "build/dashboard/assets");
const names = readdirSync(assets);
const textOf = (name: string) => readFileSync(join(assets, name), "utf8");
const one = (pattern: RegExp) => names.find((name) => pattern.test(name)) ?? expect.fail(`no ${pattern}`);

/** A script with its static imports: not its dynamic ones. */
function withImports(name: string, found = new Set<string>()): Set<string> {
  if (found.has(name)) return found;
  found.add(name);
  for (const [, imported = ""] of textOf(name).matchAll(/(?:from|import)\s*"\.\/([\w-]+\.js)"/g)) withImports(imported, found);
  return found;
}

/** The style sheets that a page's script is loaded with, by the bundler's list. */
function stylesOf(page: string): readonly string[] {
  const first = textOf(one(/^index-.*\.js$/));
  const [, files = "[]"] = /m\.f=(\[[^\]]*\])/.exec(first) ?? [];
  const loads = new RegExp(`${page}-[\\w-]+\\.js.\\)[^\\[]*__vite__mapDeps\\((\\[[\\d,]*\\])`);
  const [, places = "[]"] = loads.exec(first) ?? [];
  const all = JSON.parse(files) as readonly string[];
  const needed = (JSON.parse(places) as readonly number[]).map((place) => all[place]?.slice("./".length) ?? "");
  const sheets = needed.filter((name) => name.endsWith(".css"));
  expect(sheets.some((name) => name.startsWith(page.replace("-page", "-"))), page).to.equal(true);
  return sheets;
}

/** The bytes of files, each compressed as it is sent. */
function sentBytes(files: Iterable<string>): number {
  return [...files].reduce((bytes, name) => bytes + gzipSync(textOf(name)).length, 0);
}

describe("the dashboard's bundle", () => {
  it("needs 150 kB of script at most for the list of events, and 10 kB of style", () => {
    const scripts = withImports(one(/^index-.*\.js$/));
    for (const name of withImports(one(/^events-page-.*\.js$/))) scripts.add(name);
    expect(sentBytes(scripts), [...scripts].join(", ")).to.be.below(150_000);
    expect(sentBytes([one(/^index-.*\.css$/), ...stylesOf("events-page")])).to.be.below(10_000);
  });

  it("needs 90 kB of fonts at most", () => {
    const fonts = names.filter((name) => name.endsWith(".woff2"));
    expect(fonts).to.have.length(1);
    expect(statSync(join(assets, one(/\.woff2$/))).size).to.be.below(90_000);
  });

  it("loads the editor when it is first shown: 130 kB at most", () => {
    const first = withImports(one(/^index-.*\.js$/));
    const editors = names.filter((name) => name.endsWith(".js") && textOf(name).includes("cm-editor"));
    for (const name of editors) expect(first.has(name), name).to.equal(false);
    expect(sentBytes(editors)).to.be.below(130_000);
  });

  it("has no class outside the modules of its style sheets, and each class that a page names is in its module", () => {
    const sources = globSync("packages/dashboard/src/**/*.{ts,tsx}", { cwd: project });
    const classesOf = (sheet: string) => [...readFileSync(sheet, "utf8").matchAll(/\.([a-z]\w*)(?=[^{}]*\{)/gi)];
    expect(classesOf(join(project, "packages/dashboard/src/style/global.css"))).to.deep.equal([]);
    const missing = sources.flatMap((file) => {
      const text = readFileSync(join(project, file), "utf8");
      return [...text.matchAll(/^import (\w+) from "(.+\.module\.css)";$/gm)].flatMap(([, name = "", sheet = ""]) => {
        const known = new Set(classesOf(join(project, file, "..", sheet)).map(([, found]) => found));
        const named = [...text.matchAll(new RegExp(`\\b${name}\\.(\\w+)\\b(?!\\.css)`, "g"))].map(([, found]) => found);
        return named.filter((found) => !known.has(found)).map((found) => `${file}: ${name}.${found}`);
      });
    });
    expect(missing).to.deep.equal([]);
  });

  it("has no address of another host but in the texts of its libraries, and no code that evaluates a text", () => {
    for (const name of names.filter((each) => each.endsWith(".js"))) {
      expect(textOf(name), name).to.not.match(/\bnew Function\(|\beval\(/);
      expect(textOf(name), name).to.not.match(/(?:src|href)\s*[=:]\s*["'`]https?:/);
    }
  });
});
