import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { commandEnvironment, commandProblem } from "./debian.ts";
import { answering } from "./engines/answering.ts";
import { freePort } from "./free-port.ts";
import { makeAuthority } from "./tls.ts";

/** The proxies that the guide has a configuration for. */
export type ProxyName = "nginx" | "haproxy";

/** A running TLS proxy in front of a relay. */
export interface Proxy {
  /** On 127.0.0.1. */
  readonly port: number;
  /** The authority that its clients trust, PEM. */
  readonly caPem: string;
  close(): Promise<void>;
}

interface Kind {
  /** Of the block in the guide. */
  readonly language: string;
  /** Texts of the block, each with its replacement here. */
  readonly replaced: (folder: string, port: number, relay: string) => Readonly<Record<string, string>>;
  /** The whole configuration around the block. */
  readonly whole: (folder: string, block: string) => string;
  readonly run: (file: string, folder: string) => readonly string[];
}

/** How a proxy is configured, where not as the guide has it; of nginx. */
interface ProxyOptions {
  /** A path below which the relay is, such as `/relay`, as the guide says. */
  readonly prefix?: string;
  /** The rest is as Debian's package has it, and of the guide's directives for proxies there is `proxy_pass` alone. */
  readonly isUntuned?: boolean;
}

const guide = new URL("../../docs/operating/proxy.md", import.meta.url);
const patienceMs = 20_000;

const kinds: Readonly<Record<ProxyName, Kind>> = {
  nginx: {
    language: "nginx",
    replaced: (folder, port, relay) => ({
      "listen 443 ssl": `listen 127.0.0.1:${port} ssl`,
      "/etc/nginx/relay.pem": join(folder, "relay.crt"),
      "/etc/nginx/relay.key": join(folder, "relay.key"),
      "127.0.0.1:8080": relay,
    }),
    whole: (folder, block) => {
      return `daemon off; master_process off; pid ${folder}/pid; events {}
        http { access_log off; ${temporaryOf(folder)}\n${block}}\n`;
    },
    run: (file, folder) => ["-e", join(folder, "errors.txt"), "-c", file],
  },
  haproxy: {
    language: "haproxy",
    replaced: (folder, port, relay) => ({
      "bind :443": `bind 127.0.0.1:${port}`,
      "/etc/haproxy/relay.pem": join(folder, "relay.pem"),
      "127.0.0.1:8080": relay,
    }),
    whole: (_folder, block) => block,
    run: (file) => ["-db", "-q", "-f", file],
  },
};

/** The folders in which nginx keeps bodies: a process without rights has none of its own. */
function temporaryOf(folder: string): string {
  const modules = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
  return modules.map((name) => `${name}_temp_path ${folder};`).join(" ");
}

/**
 * Starts a proxy, configured as the guide has it, in front of the relay at `host:port`, for a `before` hook. Where it
 * is neither installed nor can be, its tests are skipped by name, but never in CI.
 */
export async function proxyOrSkip(
  context: Mocha.Context, name: ProxyName, relay: string, options: ProxyOptions = {},
): Promise<Proxy> {
  context.timeout(600_000);
  const problem = commandProblem(name, "-v", [name]);
  if (problem !== null) {
    if (process.env["CI"] === "true") throw new Error(problem);
    console.log(`  ${name} for the tests: ${problem}`);
    return context.skip();
  }
  return start(name, relay, options);
}

async function start(
  name: ProxyName, relay: string, { prefix = "", isUntuned = false }: ProxyOptions,
): Promise<Proxy> {
  const { language, replaced, whole, run } = kinds[name];
  const folder = mkdtempSync(join(tmpdir(), `relay-${name}-`));
  const port = await freePort();
  const authority = makeAuthority();
  const { cert, key } = authority.issue();
  for (const [file, text] of [["relay.crt", cert], ["relay.key", key], ["relay.pem", cert + key]] as const) {
    writeFileSync(join(folder, file), text);
  }
  let block = blockOf(language);
  for (const [text, own] of Object.entries(replaced(folder, port, relay))) {
    if (!block.includes(text)) throw new Error(`the guide's configuration for ${name} has no ${text}`);
    block = block.replaceAll(text, own);
  }
  if (prefix !== "") block = belowPath(block, prefix, relay);
  if (isUntuned) block = block.replace(/^ *proxy_(?!pass ).*\n/gm, "");
  const file = join(folder, "configuration");
  writeFileSync(file, (isUntuned ? debiansNginx : whole)(folder, block));
  const child = spawn(name, run(file, folder), { stdio: ["ignore", "inherit", "inherit"], env: commandEnvironment });
  const exited = once(child, "exit");
  const ended = new AbortController();
  child.once("exit", (code) => ended.abort(`${name} ended with code ${code}`));
  await answering(port, patienceMs, ended.signal);
  return {
    port,
    caPem: authority.caPem,
    close: async () => {
      child.kill("SIGKILL");
      await exited;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The guide's configuration for nginx, changed as it says for a relay below a path. */
function belowPath(block: string, prefix: string, relay: string): string {
  return block
    .replaceAll("location = /", `location = ${prefix}/`)
    .replace("location / {", `location ${prefix}/ {\n proxy_redirect / ${prefix}/;`)
    .replace(`proxy_pass http://${relay};`, `proxy_pass http://${relay}/;`);
}

/** The configuration of Debian's package, in a folder of its own, with one site. */
function debiansNginx(folder: string, site: string): string {
  const own: readonly (readonly [RegExp, string])[] = [
    [/^user .*$/m, "daemon off; master_process off;"],
    [/^pid .*$/m, `pid ${folder}/pid;`],
    [/^\s*access_log .*$/m, `access_log off; ${temporaryOf(folder)}`],
    [/^\s*include .*sites-enabled.*$/m, site],
  ];
  return own.reduce((text, [line, replacement]) => {
    if (!line.test(text)) throw new Error(`Debian's configuration of nginx has no line ${String(line)}`);
    return text.replace(line, () => replacement);
  }, readFileSync("/etc/nginx/nginx.conf", "utf8").replace(/^error_log .*$/m, ""));
}

function blockOf(language: string): string {
  const [, block] = new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\``, "ms").exec(readFileSync(guide, "utf8")) ?? [];
  if (block === undefined) throw new Error(`the guide has no configuration in ${language}`);
  return block;
}
