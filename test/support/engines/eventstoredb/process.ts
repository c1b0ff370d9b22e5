import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { temporaryFolder } from "../../embedded-store.ts";
import type { Release } from "../../eventstoredb-server/release.ts";
import type { EventStoreDbUnderTest } from "./server.ts";

const program = new URL("../../eventstoredb-server/main.ts", import.meta.url).pathname;

/** The wire-compatible server in a process of its own, with a file: real signals kill, freeze and thaw it. */
export async function startServerProcess(release: Release = "23.10"): Promise<EventStoreDbUnderTest> {
  const folder = temporaryFolder();
  const file = join(folder.path, "log");
  let { child, url } = await launch(file, "0", release);
  const kill = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.ref();
    const exited = once(child, "exit");
    child.kill("SIGKILL");
    await exited;
  };
  return {
    url,
    description: `the wire-compatible server of these tests, as ${release}`,
    breakable: true,
    kill,
    restart: async () => {
      await kill();
      ({ child, url } = await launch(file, new URL(url).port, release));
    },
    freeze: async () => void child.kill("SIGSTOP"),
    thaw: async () => void child.kill("SIGCONT"),
    stop: async () => {
      await kill();
      folder.remove();
    },
  };
}

async function launch(
  file: string, port: string, release: Release,
): Promise<{ readonly child: ChildProcess; readonly url: string }> {
  const options = ["--port", port, "--file", file, "--release", release, "--leashed"];
  const child = spawn(
    process.execPath, ["--disable-warning=ExperimentalWarning", program, ...options],
    { stdio: ["pipe", "pipe", "inherit"] },
  );
  // The server ends when its standard input closes. A frozen server cannot notice that: this kills it.
  const endWithParent = () => child.kill("SIGKILL");
  process.once("exit", endWithParent);
  child.once("exit", () => process.off("exit", endWithParent));
  child.unref();
  const lines = createInterface(child.stdout);
  const url = await Promise.race([
    once(lines, "line").then(([line]) => line as string),
    once(child, "exit").then(() => Promise.reject(new Error("the wire-compatible server did not start"))),
  ]);
  for (const stream of [child.stdin, child.stdout] as unknown as { unref(): void }[]) stream.unref();
  return { child, url };
}
