/**
 * Builds the pages of packages/dashboard into `build/dashboard`, unless those there are of the same sources. Vite and
 * the pages' libraries are development packages.
 */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

const project = join(import.meta.dirname, "..");
const stamp = join(project, "build/dashboard/.sources");

const sources = sourcesHash();
if (!existsSync(stamp) || readFileSync(stamp, "utf8") !== sources) {
  const { build } = await import("vite");
  await build({ configFile: join(project, "packages/dashboard/vite.config.ts"), logLevel: "warn" });
  mkdirSync(dirname(stamp), { recursive: true });
  writeFileSync(stamp, sources);
}

/** A hash of every file that the pages are made of, by name and content. */
function sourcesHash() {
  const digest = createHash("sha256");
  const roots = ["packages/dashboard", "packages/client/src", "schemas/api.ts", "package-lock.json"];
  for (const file of roots.flatMap(filesIn).sort()) {
    digest.update(`${file}\0`).update(readFileSync(join(project, file)));
  }
  return digest.digest("hex");
}

/** A file, or all files of a folder and its subfolders, relative to the project. */
function filesIn(name) {
  if (statSync(join(project, name)).isFile()) return [name];
  return readdirSync(join(project, name), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(project.length + 1));
}
