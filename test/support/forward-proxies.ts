import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { commandEnvironment, commandProblem } from "./debian.ts";
import { answering } from "./engines/answering.ts";
import { freePort } from "./free-port.ts";

/** The forward proxies of Debian that the tests run. */
export type ForwardProxyName = "squid" | "tinyproxy";

/** A running forward proxy, which asks for a name and a password. */
export interface ForwardProxy {
  /** With the name and the password. */
  readonly url: string;
  /** The lines of its log that name a target. */
  log(target: string): readonly string[];
  /** Kills it. */
  stop(): Promise<void>;
  /** Starts it again. */
  start(): Promise<void>;
  close(): Promise<void>;
}

interface Kind {
  readonly package: string;
  readonly configuration: (folder: string, port: number) => string;
  readonly run: (file: string) => readonly string[];
}

const name = "relay";
const password = "s3cret-pass";
const patienceMs = 20_000;

const kinds: Readonly<Record<ForwardProxyName, Kind>> = {
  squid: {
    package: "squid",
    configuration: (folder, port) => [
      `http_port 127.0.0.1:${port}`, "pid_filename none", `access_log stdio:${folder}/log`, `cache_log ${folder}/cache`,
      `coredump_dir ${folder}`, "shutdown_lifetime 0 seconds", "cache deny all",
      `auth_param basic program /bin/sh ${folder}/proof`, "acl known proxy_auth REQUIRED", "http_access allow known",
      "http_access deny all",
    ].join("\n"),
    run: (file) => ["-N", "-f", file],
  },
  tinyproxy: {
    package: "tinyproxy-bin",
    configuration: (folder, port) => [
      `Port ${port}`, "Listen 127.0.0.1", "Allow 127.0.0.1", "Timeout 60", `LogFile "${folder}/log"`,
      "LogLevel Connect", `BasicAuth ${name} ${password}`,
    ].join("\n"),
    run: (file) => ["-d", "-c", file],
  },
};

/** Squid's helper that checks names and passwords. */
const proof = `while read -r given; do
  if [ "$given" = "${name} ${password}" ]; then echo OK; else echo ERR; fi
done
`;

/**
 * Starts a forward proxy for a `before` hook. Where it is neither installed nor can be, its tests are skipped by name,
 * but never in CI.
 */
export async function forwardProxyOrSkip(context: Mocha.Context, kind: ForwardProxyName): Promise<ForwardProxy> {
  context.timeout(600_000);
  const problem = commandProblem(kind, "-v", [kinds[kind].package]);
  if (problem !== null) {
    if (process.env["CI"] === "true") throw new Error(problem);
    console.log(`  ${kind} for the tests: ${problem}`);
    return context.skip();
  }
  return begin(kind);
}

async function begin(kind: ForwardProxyName): Promise<ForwardProxy> {
  const { configuration, run } = kinds[kind];
  const folder = mkdtempSync(join(tmpdir(), `relay-${kind}-`));
  // Squid gives up the rights of root.
  chmodSync(folder, 0o777);
  const port = await freePort();
  const file = join(folder, "configuration");
  writeFileSync(file, `${configuration(folder, port)}\n`);
  writeFileSync(join(folder, "proof"), proof, { mode: 0o644 });
  let end: () => Promise<void> = async () => undefined;
  const proxy: ForwardProxy = {
    url: `http://${name}:${password}@127.0.0.1:${port}`,
    log: (target) => readFileSync(join(folder, "log"), "utf8").split("\n").filter((line) => line.includes(target)),
    stop: () => end(),
    async start() {
      const child = spawn(kind, run(file), { stdio: ["ignore", "inherit", "inherit"], env: commandEnvironment });
      const exited = once(child, "exit");
      const ended = new AbortController();
      child.once("exit", (code) => ended.abort(`${kind} ended with code ${code}`));
      end = async () => {
        child.kill("SIGKILL");
        await exited;
      };
      await answering(port, patienceMs, ended.signal);
    },
    async close() {
      await end();
      rmSync(folder, { recursive: true, force: true });
    },
  };
  await proxy.start();
  return proxy;
}
