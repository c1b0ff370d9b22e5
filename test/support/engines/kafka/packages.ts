import { execFile, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { answering } from "../answering.ts";
import type { KafkaUnderTest, Ports } from "./broker.ts";
import { quickProperties } from "./properties.ts";
import { secureListener } from "./secure.ts";

const run = promisify(execFile);
const script = fileURLToPath(new URL("jars.sh", import.meta.url));
const cache = fileURLToPath(new URL("../../../../node_modules/.cache/kafka", import.meta.url));
const startsWithinMs = 60_000;

/** A broker of its own, run by Java from Maven's packages, its data in a temporary folder. */
export async function packagedBroker(version: string, ports: Ports): Promise<KafkaUnderTest> {
  const port = ports.direct;
  const jars = join(cache, version);
  await run("sh", [script, jars, version], { timeout: 480_000 });
  const folder = mkdtempSync(join(tmpdir(), "relay-kafka-"));
  const keeper = keep(folder);
  const settings = join(folder, "server.properties");
  const { secure, properties, scram } = secureListener(ports.secure);
  writeFileSync(settings, propertiesText({
    ...quickProperties(ports, "127.0.0.1", properties),
    "log.dirs": join(folder, "data"),
  }));
  const classes = ["-cp", join(jars, "*")];
  const format = ["kafka.tools.StorageTool", "format", "-t", "A".repeat(22), "-c", settings, ...scram];
  await run("java", [...classes, ...format]);

  let java: ChildProcess;
  const launch = async () => {
    const log = openSync(join(folder, "broker.txt"), "a");
    const memory = ["-Xmx512m", "-XX:+UseSerialGC"];
    // A process group of its own: Ctrl-C is for the tests, which may still need the broker.
    java = spawn("java", [...memory, ...classes, "kafka.Kafka", settings], {
      detached: true, stdio: ["ignore", log, log],
    });
    java.unref();
    keeper.watch(java.pid);
    const ended = new AbortController();
    java.once("exit", () => ended.abort(`the broker ended: ${tail(join(folder, "broker.txt"))}`));
    await answering(port, startsWithinMs, ended.signal);
  };
  const signal = (name: NodeJS.Signals) => java.kill(name);
  const over = () => java.exitCode !== null || java.signalCode !== null;
  await launch();
  return {
    brokers: [`127.0.0.1:${port}`],
    description: `Kafka ${version} from packages, on port ${port}`,
    breakable: true,
    detour: ports.detour,
    secure,
    stop: async () => {
      signal("SIGCONT");
      if (over()) await launch();
    },
    kill: async () => {
      if (over()) return;
      const exit = once(java, "exit");
      signal("SIGKILL");
      await exit;
    },
    restart: launch,
    freeze: async () => { signal("SIGSTOP"); },
    thaw: async () => { signal("SIGCONT"); },
  };
}

/** Kills the last watched process and removes the folder when this process has ended, for any reason. */
function keep(folder: string): { watch(pid: number | undefined): void } {
  const until = 'while read -r line; do pid=$line; done; kill -KILL "$pid" 2>/dev/null; sleep 0.2; rm -rf "$1"';
  const keeper = spawn("sh", ["-c", until, "keeper", folder], { detached: true, stdio: ["pipe", "ignore", "ignore"] });
  keeper.unref();
  (keeper.stdin as unknown as { unref(): void }).unref();
  return { watch: (pid) => { keeper.stdin.write(`${pid}\n`); } };
}

function propertiesText(properties: Readonly<Record<string, string>>): string {
  return Object.entries(properties).map(([name, value]) => `${name}=${value.replaceAll("\n", "\\n")}\n`).join("");
}

function tail(file: string): string {
  return readFileSync(file, "utf8").split("\n").slice(-6).join("\n");
}
