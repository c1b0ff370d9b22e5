import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync } from "node:fs";
import { basename, join } from "node:path";
import { commandProblem } from "./debian.ts";

const cache = join(import.meta.dirname, "..", "..", "node_modules", ".cache", "shims");

/** A library to be loaded before libc, or why there is none on this machine. */
export type Shim = { readonly path: string } | { readonly missing: string };

/**
 * Compiles a C source (its path) into a library to be loaded before libc. On CI there has to be one. Where a compiler
 * is missing and may be installed, it is.
 */
export function compiled(source: string): Shim {
  const problem = process.platform === "linux"
    ? commandProblem("cc", "--version", ["gcc", "libc6-dev"])
    : `${process.platform} has no LD_PRELOAD`;
  if (problem !== null) {
    if (process.env["CI"] === "true") throw new Error(problem);
    return { missing: problem };
  }
  const hash = createHash("sha256").update(readFileSync(source)).digest("hex").slice(0, 16);
  const path = join(cache, `${basename(source, ".c")}-${hash}-${process.arch}.so`);
  if (!existsSync(path)) {
    mkdirSync(cache, { recursive: true });
    const draft = `${path}.${process.pid}`;
    execFileSync("cc", ["-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-o", draft, source]);
    renameSync(draft, path);
  }
  return { path };
}
