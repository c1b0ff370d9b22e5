import { execFile, spawn, type ChildProcess } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from "node:fs";
import type { Socket } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { promisify } from "node:util";
import { freePort } from "../../free-port.ts";
import { answering } from "../answering.ts";
import type { MongoDbUnderTest } from "./server.ts";

const run = promisify(execFile);

const secantus = "secantusdb==0.7.0b3";
const cache = resolve("node_modules/.cache/mongodb");
const environment = join(cache, secantus);
const startedWithinMs = 30_000;

/** Ends the server and removes its data when its standard input closes, so that none outlives the tests. */
const launcher = `
import os, runpy, shutil, sys, threading
folder = sys.argv.pop(1)
def watch():
    sys.stdin.buffer.read()
    shutil.rmtree(folder, ignore_errors=True)
    os._exit(0)
threading.Thread(target=watch, daemon=True).start()
program = sys.argv.pop(1)
sys.argv[0] = program
runpy.run_path(program, run_name="__main__")
`;

/** SecantusDB, from its Python package, on a port and data of its own; as a replica set of one, or without. */
export async function packagedMongoDb(kind: "replica set" | "standalone" = "replica set"): Promise<MongoDbUnderTest> {
  await install();
  const folder = mkdtempSync(join(tmpdir(), "secantus-"));
  const port = await freePort();
  const start = () => startServer(port, folder, kind === "standalone" ? ["--standalone"] : []);
  let server = await start();
  const kill = async () => {
    if (server.exitCode !== null || server.signalCode !== null) return;
    const ended = new Promise((resolveEnd) => server.once("exit", resolveEnd));
    server.kill("SIGKILL");
    await ended;
  };
  const endNow = () => {
    server.kill("SIGKILL");
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  };
  process.once("exit", endNow);
  return {
    url: `mongodb://127.0.0.1:${port}/`,
    description: secantus.replace("secantusdb==", "SecantusDB "),
    kill,
    restart: async () => {
      await kill();
      server = await start();
    },
    freeze: async () => {
      server.kill("SIGSTOP");
      // The signal takes a moment, in which the server would still answer a quick request.
      while (!/\) T/.test(readFileSync(`/proc/${server.pid ?? 0}/stat`, "utf8"))) await wait(1);
    },
    thaw: async () => { server.kill("SIGCONT"); },
    stop: async () => {
      process.off("exit", endNow);
      await kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function startServer(port: number, folder: string, more: readonly string[]): Promise<ChildProcess> {
  const program = join(environment, "bin", "secantusd-py");
  const flags = ["--host", "127.0.0.1", "--port", String(port), "--storage-path", folder, "--cache-size", "256M"];
  const server = spawn(
    join(environment, "bin", "python"),
    ["-c", launcher, folder, program, ...flags, "--log-level", "ERROR", "--sync-on-commit", ...more],
    { stdio: ["pipe", "ignore", "inherit"] },
  );
  // The server does not keep the test process alive.
  server.unref();
  (server.stdin as Socket).unref();
  const ended = new AbortController();
  server.once("error", (error) => ended.abort(error));
  server.once("exit", (code) => ended.abort(`SecantusDB ended at once with ${code}`));
  await answering(port, startedWithinMs, ended.signal);
  return server;
}

/** Installs into a folder of its own, moved into place when complete: several processes may install at once. */
async function install(): Promise<void> {
  if (existsSync(join(environment, "bin", "secantusd-py"))) return;
  try {
    await installOnce();
  } catch {
    // Debian packages venv apart from Python; a registry may have failed for a moment.
    if (process.getuid?.() === 0) await aptInstall().catch(() => undefined);
    await installOnce();
  }
}

async function installOnce(): Promise<void> {
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, "new-"));
  try {
    await run("python3", ["-m", "venv", folder]);
    const pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", secantus];
    await run(join(folder, "bin", "python"), pip, { timeout: 300_000 });
    if (!existsSync(environment)) renameSync(folder, environment);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function aptInstall(): Promise<void> {
  await run("apt-get", ["update", "-qq"], { timeout: 120_000 });
  const packages = ["python3", "python3-venv", "python3-pip"];
  await run("apt-get", ["install", "-qq", "-y", "--no-install-recommends", ...packages], { timeout: 300_000 });
}
