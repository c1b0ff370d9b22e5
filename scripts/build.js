/**
 * Writes the program to `build` as JavaScript, which `npm start`, the tests and the image run. Types become blanks and
 * endings of imports keep their length, so lines and columns in a stack trace are those of the source. A file that is
 * already as it should be is not written: a checkout that was built may be read-only.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import * as module from "node:module";
import { dirname, join, relative } from "node:path";
import process from "node:process";

const project = join(import.meta.dirname, "..");
const folder = join(project, "build");
const relativeImport = /(["'])(\.{1,2}\/[^"'\n]*)\.ts\1/g;

if (!module.stripTypeScriptTypes) {
  process.stderr.write("node_modules/.bin/node is missing: run npm rebuild node --ignore-scripts=false\n");
  process.exit(1);
}
// Node says of `stripTypeScriptTypes` that it is experimental.
process.removeAllListeners("warning");

const built = new Set();
const sources = ["src", "projections", "packages/embedded-engine"].flatMap(filesIn);
for (const source of sources.filter((file) => file.endsWith(".ts"))) {
  const script = module.stripTypeScriptTypes(readFileSync(join(project, source), "utf8"));
  write(source.replace(/\.ts$/, ".js"), script.replace(relativeImport, "$1$2.js$1"));
}
for (const source of ["package.json", ...filesIn("schemas").filter((file) => file.endsWith(".json"))]) {
  write(source, readFileSync(join(project, source), "utf8"));
}
const isOurs = (file) => /\.js(on)?$/.test(file) && !file.startsWith(join("build", "dashboard"));
for (const file of filesIn("build").filter(isOurs)) {
  if (!built.has(relative("build", file))) rmSync(join(project, file));
}

/** Paths of all entries of a folder and its subfolders, relative to the project; none without the folder. */
function filesIn(name) {
  if (!existsSync(join(project, name))) return [];
  return readdirSync(join(project, name), { recursive: true }).map((path) => join(name, path));
}

/** Replaces the file whole, if it differs: a relay that runs meanwhile may read it at any moment. */
function write(file, text) {
  built.add(file);
  const path = join(folder, file);
  if (contentOf(path) === text) return;
  mkdirSync(dirname(path), { recursive: true });
  const draft = `${path}.${process.pid}`;
  writeFileSync(draft, text);
  renameSync(draft, path);
}

/** Undefined without a file. */
function contentOf(path) {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}
