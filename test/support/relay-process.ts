import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { ApiClient } from "./api-client.ts";
import type { Receiver } from "./receiver.ts";
import { temporaryDataDir, testEnvironment } from "./relay.ts";

const root = join(import.meta.dirname, "..", "..");
const nodeFlags = ["--disable-warning=ExperimentalWarning"];
/** Shorter than Mocha's limit, whose error would not show the relay's output. */
const startMs = 55_000;
const shownLines = 40;

/** A line of the relay's log. */
export type LogLine = Readonly<Record<string, unknown>> & { readonly msg?: string };

/** One process from its start to its end; moments in wall time, ms. */
export interface Life {
  readonly startedAt: number;
  /** Null when it never became ready. */
  readyAt: number | null;
  endedAt: number | null;
  /** By {@link RelayProcess.kill9}, or by itself: after a failed sync, or at a chosen step of the disk. */
  killed: boolean;
}

/** How a process ended. */
export interface End {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** From the signal to the end, ms. */
  readonly durationMs: number;
}

/** The result of a command that ran to its end. */
export interface Finished {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface ProcessOptions {
  /** Overrides the defaults of `testEnvironment`. */
  readonly env?: Readonly<Record<string, string>>;
  /** Flags of Node for the relay, such as a limit of its heap. */
  readonly nodeFlags?: readonly string[];
}

/** Runs the program with arguments to its end; a relay is stopped once it is ready. A `uid` needs root. */
export async function runRelay(
  env: Readonly<Record<string, string>>,
  args: readonly string[] = [],
  { uid, program = root }: { readonly uid?: number | undefined; readonly program?: string } = {},
): Promise<Finished> {
  const child = spawn(process.execPath, [...nodeFlags, "build/src/main.js", ...args], {
    cwd: program, env: { ...env }, ...(uid === undefined ? {} : { uid, gid: uid }),
  });
  child.stdin.end();
  const texts = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const) {
    child[name].setEncoding("utf8").on("data", (text: string) => (texts[name] += text));
  }
  child.stdout.on("data", (text: string) => {
    if (text.includes('"msg":"ready"')) child.kill("SIGTERM");
  });
  const [code] = (await once(child, "close")) as [number | null];
  return { code, ...texts };
}

/** The relay as a child process that can be killed and started again on the same data. */
export class RelayProcess {
  readonly dataDir = temporaryDataDir();
  readonly lives: Life[] = [];
  /** Log lines of all lives, oldest first. */
  readonly lines: LogLine[] = [];
  readonly #receiver: Pick<Receiver, "caPem"> | null;
  readonly #options: ProcessOptions;
  readonly #output: string[] = [];
  #program = root;
  #child: ChildProcess | undefined;
  /** The process whose "ready" counts: none once its end was asked for. */
  #awaited: Life | undefined;
  #url = "";
  #ready = waiting();
  #closed = false;

  /** Nothing runs before {@link start}. */
  constructor(receiver: Pick<Receiver, "caPem"> | null, options: ProcessOptions = {}) {
    this.#receiver = receiver;
    this.#options = options;
  }

  /** A new relay, ready. A relay that fails to start is closed. */
  static async start(receiver: Pick<Receiver, "caPem"> | null, options: ProcessOptions = {}): Promise<RelayProcess> {
    const relay = new RelayProcess(receiver, options);
    try {
      await relay.start();
    } catch (error) {
      await relay.close();
      throw error;
    }
    return relay;
  }

  /** Where the API of the present, or the last, process listens. */
  get url(): string {
    return this.#url;
  }

  get pid(): number {
    return this.#child?.pid ?? 0;
  }

  /** Whether no more process will be started. */
  get closed(): boolean {
    return this.#closed;
  }

  get environment(): Readonly<Record<string, string>> {
    return { ...testEnvironment(this.dataDir, this.#receiver), RELAY_LOG_LEVEL: "info", ...this.#options.env };
  }

  /** Has the processes that are started from now on run the program in a folder, see makeNextRelease. */
  use(program: string): void {
    this.#program = program;
  }

  /** Starts a process and does not wait for it. */
  launch(): void {
    const { nodeFlags: own = [] } = this.#options;
    const child = spawn(process.execPath, [...nodeFlags, ...own, "build/src/main.js"], {
      cwd: this.#program, env: { ...this.environment }, stdio: ["ignore", "pipe", "pipe"],
    });
    const life: Life = { startedAt: Date.now(), readyAt: null, endedAt: null, killed: false };
    this.lives.push(life);
    this.#awaited = life;
    this.#child = child;
    createInterface({ input: child.stdout }).on("line", (line) => this.#read(line, life));
    createInterface({ input: child.stderr }).on("line", (line) => this.#output.push(line));
    child.once("exit", (_code, signal) => {
      life.endedAt = Date.now();
      life.killed = signal === "SIGKILL";
    });
    // Its last output may arrive after its exit.
    child.once("close", (code, signal) => {
      if (life !== this.#awaited || life.readyAt !== null) return;
      const { reject } = this.#ready;
      // Later calls of ready() wait for the next process.
      this.#ready = waiting();
      reject(new Error(`it ended by itself: code ${code}, signal ${signal}\n${this.tail()}`));
    });
  }

  /** Starts a process; resolves when it is ready. */
  async start(): Promise<void> {
    this.launch();
    await this.ready();
  }

  /** Resolves when a process is ready, were it one still to be started. Rejects after 55 s, and when it is closed. */
  async ready(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => reject(new Error(`not ready after ${startMs} ms\n${this.tail()}`)), startMs);
    });
    try {
      await Promise.race([this.#ready.promise, late]);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Sends SIGKILL at once; resolves when the process is gone. */
  async kill9(): Promise<void> {
    await this.#end("SIGKILL");
  }

  /** Asks the process to end; resolves when it has. */
  async sigterm(): Promise<End> {
    return this.#end("SIGTERM");
  }

  /** Sends a signal to the process, if any, and waits for nothing. */
  signal(name: NodeJS.Signals): void {
    this.#child?.kill(name);
  }

  /** Runs a command of the program on this data. The relay must not be running. */
  async command(...args: readonly string[]): Promise<Finished> {
    return runRelay(this.environment, args, { program: this.#program });
  }

  /** The same caller of the API, at the present process. */
  at(client: ApiClient): ApiClient {
    return new ApiClient(this.#url, client.headers);
  }

  /** The value of a metric of the present process; undefined where it has none of that name and labels. */
  async metric(name: string): Promise<number | undefined> {
    const text = await (await fetch(`${this.#url}/metrics`)).text();
    const line = text.split("\n").find((candidate) => candidate.startsWith(`${name} `));
    return line === undefined ? undefined : Number(line.slice(name.length));
  }

  /** The output of all processes so far. */
  get output(): string {
    return this.#output.join("\n");
  }

  /** The newest text it printed that matches, whole or the part in brackets; undefined while there is none. */
  printed(pattern: RegExp): string | undefined {
    const match = this.#output.map((line) => pattern.exec(line)).findLast((found) => found !== null);
    return match?.[1] ?? match?.[0];
  }

  /** The last lines of the output, attempts left out, to explain a failure. */
  tail(): string {
    return this.#output.filter((line) => !/"(delivery attempt|attempt given up: .*)"}$/.test(line)).map((line) => line.slice(0, 400))
      .slice(-shownLines).join("\n");
  }

  /** Kills a running process and removes the data. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.kill9();
    this.#ready.reject(new Error("it is closed"));
    rmSync(join(this.dataDir, ".."), { recursive: true, force: true });
  }

  /** Closes the relay in a hook after a test; after a failed test, prints the last lines of its output. */
  async closeAfter({ currentTest }: Mocha.Context): Promise<void> {
    if (currentTest?.state === "failed") console.log(this.tail());
    await this.close();
  }

  #read(line: string, life: Life): void {
    this.#output.push(line);
    const parsed = JSON.parse(line) as LogLine;
    this.lines.push(parsed);
    if (parsed.msg !== "ready" || life !== this.#awaited) return;
    this.#url = String(parsed["url"]);
    life.readyAt = Date.now();
    this.#ready.resolve();
  }

  async #end(signal: NodeJS.Signals): Promise<End> {
    const child = this.#child;
    const startedAt = performance.now();
    if (!child) return { code: null, signal: null, durationMs: 0 };
    this.#awaited = undefined;
    // Earlier calls of ready() that still wait go on to wait for the next process.
    if (this.lives.at(-1)?.readyAt) this.#ready = waiting();
    const over = child.exitCode === null && child.signalCode === null ? once(child, "exit") : null;
    child.kill(signal);
    await over;
    return { code: child.exitCode, signal: child.signalCode, durationMs: performance.now() - startedAt };
  }
}

/** A promise whose rejection needs no handler. */
function waiting(): PromiseWithResolvers<void> {
  const resolvers = Promise.withResolvers<void>();
  resolvers.promise.catch(() => undefined);
  return resolvers;
}
