import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ApiClient, text, type Json } from "../../demo/api-client.ts";
import type { Target } from "../processes/generator.ts";
import { pidOf } from "./child.ts";
import { pause } from "./clock.ts";

const project = join(import.meta.dirname, "..", "..");
const startTimeoutMs = 20_000;
const idleTimeoutMs = 60_000;
const statuses = {
  delivered: ["Succeeded"],
  waiting: ["Pending", "Processing", "Failed", "WaitingRetry"],
  dead: ["CriticalFailure", "Cancelled"],
} as const;

/** Where the relay's own books say its accepted events are. */
export type Standing = Readonly<Record<keyof typeof statuses, number>>;

export interface RelayOptions {
  /** PEM of the authority the receiver's certificate is from. */
  readonly caPem: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly nodeOptions?: readonly string[];
}

/** A tenant with its destinations, as a producer and an owner use them. */
export interface Account {
  /** In the order of the URLs given. */
  readonly targets: readonly Target[];
  /** By the relay's lists, which wait until they cover all that was acknowledged. */
  standing(): Promise<Standing>;
  /** Resolves when no event waits any more; throws when that takes too long. */
  untilIdle(): Promise<void>;
  /** Changes every destination. */
  patchDestinations(change: Json): Promise<void>;
}

/** The real program, all roles in one process, on the embedded engines. */
export class RelayProcess {
  readonly pid: number;
  readonly folder: string;
  readonly url: string;
  readonly #process: ChildProcess;
  /** A benchmark that ends early takes its relays with it. */
  readonly #killed = () => void this.#process.kill("SIGKILL");

  private constructor(child: ChildProcess, folder: string, url: string) {
    this.pid = pidOf(child);
    this.folder = folder;
    this.url = url;
    this.#process = child;
    process.once("exit", this.#killed);
  }

  /** Starts the relay on an empty data folder; its log goes to a file there, as a supervisor would have it. */
  static async start({ caPem, environment = {}, nodeOptions = [] }: RelayOptions): Promise<RelayProcess> {
    const folder = mkdtempSync(join(tmpdir(), "relay-bench-"));
    const caFile = join(folder, "receiver-ca.pem");
    writeFileSync(caFile, caPem);
    const logFile = join(folder, "relay.log");
    const log = openSync(logFile, "a");
    const child = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", ...nodeOptions, "src/main.ts"], {
      cwd: project,
      stdio: ["ignore", log, "inherit"],
      env: {
        ...process.env,
        RELAY_PORT: "0",
        RELAY_DATA_DIR: join(folder, "data"),
        RELAY_ALLOWED_NETWORKS: "127.0.0.0/8",
        RELAY_EXTRA_CA_FILE: caFile,
        RELAY_LIMIT_TENANT_CREATION: "off",
        RELAY_PASSWORD_COST: "4",
        ...environment,
      },
    });
    closeSync(log);
    for (const until = performance.now() + startTimeoutMs; performance.now() < until; await pause(20)) {
      const ready = readFileSync(logFile, "utf8").split("\n").find((line) => line.includes('"msg":"ready"'));
      if (ready !== undefined) {
        const { url } = JSON.parse(ready) as { readonly url: string };
        return new RelayProcess(child, folder, url);
      }
      if (child.exitCode !== null) break;
    }
    child.kill("SIGKILL");
    throw new Error(`the relay did not start:\n${readFileSync(logFile, "utf8").slice(-2000)}`);
  }

  /** Creates a tenant with one destination for each URL. */
  async createAccount(urls: readonly string[], tenant: Json = {}, destination: Json = {}): Promise<Account> {
    const anyone = new ApiClient(this.url);
    const name = `bench ${crypto.randomUUID()}`;
    const login = { email: `${crypto.randomUUID()}@bench.example`, password: "correct horse battery" };
    const created = await anyone.post("/api/v1/tenants", {
      name, ownerEmail: login.email, ownerPassword: login.password, ...tenant,
    });
    const session = await anyone.post("/api/v1/auth/login", login);
    const owner = anyone.as({ authorization: `Bearer ${text(session, "accessToken")}` });
    const { apiKey } = (await owner.post("/api/v1/api-keys", { name: "bench" })) as { apiKey: string };
    const { hostname: host, port } = new URL(this.url);
    const destinations: string[] = [];
    const targets: Target[] = [];
    for (const url of urls) {
      const made = await owner.post("/api/v1/destinations", { url, ...destination });
      const path = `/api/v1/ingest/${text(created, "tenantId")}/${text(made, "ingestToken")}`;
      targets.push({ host, port: Number(port), path, apiKey });
      destinations.push(text(made, "id"));
    }
    return {
      targets,
      standing: () => this.#standing(owner),
      untilIdle: () => this.#untilIdle(owner),
      patchDestinations: async (change) => {
        for (const id of destinations) await owner.patch(`/api/v1/destinations/${id}`, change);
      },
    };
  }

  /** Drains and ends; the data folder goes with it unless it is kept. */
  async stop({ keepFolder = false } = {}): Promise<void> {
    if (this.#process.exitCode === null && this.#process.signalCode === null) {
      const ended = once(this.#process, "exit");
      this.#process.kill("SIGTERM");
      await ended;
    }
    process.off("exit", this.#killed);
    if (!keepFolder) rmSync(this.folder, { recursive: true, force: true });
  }

  async #untilIdle(owner: ApiClient): Promise<void> {
    for (const until = performance.now() + idleTimeoutMs; performance.now() < until; await pause(50)) {
      if ((await this.#standing(owner)).waiting === 0) return;
    }
    throw new Error(`events still wait after ${idleTimeoutMs} ms: ${JSON.stringify(await this.#standing(owner))}`);
  }

  async #standing(owner: ApiClient): Promise<Standing> {
    const totalOf = async (status: string): Promise<number> => {
      for (;;) {
        try {
          return Number((await owner.get(`/api/v1/events?Qt=1&Status=${status}`))["total"]);
        } catch (error) {
          // The read models are still catching up with a burst.
          if (!(error instanceof Error) || !error.message.includes(": 503 ")) throw error;
          await pause(50);
        }
      }
    };
    const sum = async (names: readonly string[]) =>
      (await Promise.all(names.map(totalOf))).reduce((all, count) => all + count, 0);
    return {
      delivered: await sum(statuses.delivered),
      waiting: await sum(statuses.waiting),
      dead: await sum(statuses.dead),
    };
  }
}
