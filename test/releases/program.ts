import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";

/** The relay of any release, started as users start it. */
export class Program {
  readonly #checkout: string;
  readonly #env: Readonly<Record<string, string>>;
  #child: ChildProcess | undefined;

  /** The folder of a checkout with its packages installed, and the relay's settings. Nothing runs before `start`. */
  constructor(checkout: string, env: Readonly<Record<string, string>>) {
    this.#checkout = checkout;
    const PATH = `${join(checkout, "node_modules/.bin")}:${process.env["PATH"] ?? ""}`;
    this.#env = { ...env, PATH, HOME: process.env["HOME"] ?? "" };
  }

  /** Resolves to the address of the API once the relay is ready. `more` overrides the settings. */
  async start(more: Readonly<Record<string, string>> = {}): Promise<string> {
    const child = this.#spawn([], more);
    this.#child = child;
    for await (const line of createInterface({ input: child.stdout! })) {
      const { msg, url } = JSON.parse(line) as { readonly msg: string; readonly url?: string };
      if (msg !== "ready" || url === undefined) continue;
      child.stdout!.resume();
      return url;
    }
    throw new Error("the relay ended before it was ready");
  }

  /** Resolves when the relay has ended. */
  async stop(): Promise<void> {
    const child = this.#child;
    if (!child) return;
    this.#child = undefined;
    child.kill("SIGTERM");
    await once(child, "exit");
  }

  /** Runs an operator's command to its end. The relay must not be running. */
  async command(...args: readonly string[]): Promise<void> {
    const child = this.#spawn(["--", ...args], {});
    child.stdout!.resume();
    const [code] = (await once(child, "exit")) as [number | null];
    if (code !== 0) throw new Error(`${args.join(" ")}: ended with code ${code}`);
  }

  #spawn(args: readonly string[], more: Readonly<Record<string, string>>): ChildProcess {
    return spawn("npm", ["start", "--silent", ...args], {
      cwd: this.#checkout, env: { ...this.#env, ...more }, stdio: ["ignore", "pipe", "inherit"],
    });
  }
}
