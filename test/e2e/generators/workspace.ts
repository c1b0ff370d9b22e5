import { execFile } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);
const cache = join(import.meta.dirname, "../../../node_modules/.cache/generators");

/** A command with its arguments. */
export type Command = readonly [program: string, ...args: string[]];

/** A folder for a generator and its output; it is kept from run to run. */
export class Workspace {
  readonly folder: string;
  readonly #sources: string;

  /** `name`: the folder beside this file with the lists to install and the program to run. */
  constructor(name: string) {
    this.#sources = join(import.meta.dirname, name);
    this.folder = join(cache, name);
  }

  /**
   * Installs the packages of `lists`, files of the sources, unless these are unchanged since the last time. Rejects
   * if the language is missing or its registry cannot be reached.
   */
  async install(lists: readonly string[], commands: readonly Command[]): Promise<void> {
    const wanted = lists.map((list) => readFileSync(join(this.#sources, list), "utf8")).join("\n");
    const marker = join(this.folder, "installed");
    if (!existsSync(marker) || readFileSync(marker, "utf8") !== wanted) {
      rmSync(this.folder, { recursive: true, force: true });
      mkdirSync(this.folder, { recursive: true });
      this.#copySources();
      for (const command of commands) await this.run(command);
      writeFileSync(marker, wanted);
    }
    this.#copySources();
  }

  /** Runs a command in the folder; returns its standard output. Rejects with its output if it fails. */
  async run([program, ...args]: Command, env: Readonly<Record<string, string>> = {}): Promise<string> {
    const options = { cwd: this.folder, env: { ...process.env, ...env }, maxBuffer: 64 * 1024 * 1024 };
    try {
      return (await run(program, args, options)).stdout;
    } catch (error) {
      const { stdout = "", stderr = "", message } = error as Error & { stdout?: string; stderr?: string };
      throw new Error(`${message}\n${stdout.slice(-4_000)}\n${stderr.slice(-4_000)}`, { cause: error });
    }
  }

  #copySources(): void {
    cpSync(this.#sources, this.folder, { recursive: true });
  }
}
