import { execFileSync, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync } from "node:fs";
import { join } from "node:path";

const cache = join(import.meta.dirname, "..", "..", "..", "node_modules", ".cache", "shims");

/**
 * Compiles a C source beside this file into a library to be loaded before libc; answers its path, or why there is
 * none on this machine. On CI there has to be one. Where a compiler is missing and may be installed, it is.
 */
export function compiled(source: string): { readonly path: string } | { readonly missing: string } {
  const problem = process.platform === "linux" ? compilerProblem() : `${process.platform} has no LD_PRELOAD`;
  if (problem !== null) {
    if (process.env["CI"] === "true") throw new Error(problem);
    return { missing: problem };
  }
  const file = join(import.meta.dirname, source);
  const hash = createHash("sha256").update(readFileSync(file)).digest("hex").slice(0, 16);
  const path = join(cache, `${source}-${hash}-${process.arch}.so`);
  if (!existsSync(path)) {
    mkdirSync(cache, { recursive: true });
    const draft = `${path}.${process.pid}`;
    execFileSync("cc", ["-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-o", draft, file]);
    renameSync(draft, path);
  }
  return { path };
}

function compilerProblem(): string | null {
  if (hasCompiler()) return null;
  if (process.getuid?.() !== 0) return "there is no C compiler (cc)";
  const apt = (...args: readonly string[]) => spawnSync("apt-get", ["-qq", ...args], { stdio: "ignore" });
  apt("update");
  apt("install", "--yes", "--no-install-recommends", "gcc", "libc6-dev");
  return hasCompiler() ? null : "there is no C compiler (cc), and apt-get cannot install one";
}

function hasCompiler(): boolean {
  return spawnSync("cc", ["--version"], { stdio: "ignore" }).status === 0;
}
