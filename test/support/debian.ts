import { spawnSync } from "node:child_process";

/** Where Debian puts daemons, which not everybody's PATH names. */
const path = `${process.env["PATH"] ?? ""}:/usr/sbin`;

/** The environment in which {@link commandProblem} found a command. */
export const commandEnvironment = { ...process.env, PATH: path };

/** Where a command is; empty if it is not there. */
export function commandPath(command: string): string {
  return spawnSync("which", [command], { encoding: "utf8", env: commandEnvironment }).stdout.trim();
}

/**
 * Null if a command is there, else why not. Where it is missing, and this process is root on a Debian, these packages
 * are installed. `probe` are arguments with which the command does nothing and succeeds.
 */
export function commandProblem(command: string, probe: string, packages: readonly string[]): string | null {
  const found = () => spawnSync(command, [probe], { stdio: "ignore", env: commandEnvironment }).status === 0;
  if (found()) return null;
  if (process.getuid?.() !== 0) return `there is no ${command}`;
  const apt = (...args: readonly string[]) => spawnSync("apt-get", ["-qq", "-o", "DPkg::Lock::Timeout=300", ...args], {
    stdio: "ignore", env: { ...commandEnvironment, DEBIAN_FRONTEND: "noninteractive" },
  });
  apt("update");
  apt("install", "--yes", "--no-install-recommends", ...packages);
  return found() ? null : `there is no ${command}, and apt-get cannot install it`;
}
