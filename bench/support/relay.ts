import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { ApiClient, isUnavailable, text, type Json } from "../../test/support/api-client.ts";
import type { Target } from "../processes/generator.ts";
import { pidOf } from "./child.ts";
import { ownerIdOf } from "./payload.ts";

/** Functions that end a relay and remove its data, called when a benchmark ends early. */
const running = new Set<() => void>();
process.once("exit", () => {
  for (const kill of running) kill();
});

const project = join(import.meta.dirname, "..", "..");
/** As `npm start` has them. */
const nodeFlags = [
  "--disable-warning=ExperimentalWarning", "--disable-warning=TimeoutNegativeWarning", "--max-semi-space-size=16",
];
/** The subscriptions without owner that a sender has at most. */
const mostWithoutOwner = 50;
const startTimeoutMs = 60_000;
const idleTimeoutMs = 60_000;
const statuses = {
  delivered: ["Succeeded"],
  waiting: ["Pending", "Processing", "Failed", "WaitingRetry"],
  dead: ["CriticalFailure", "Cancelled"],
} as const;

/** Numbers of accepted events by their state in the relay's lists. */
export type Standing = Readonly<Record<keyof typeof statuses, number>>;

export interface RelayOptions {
  /** PEM of the authority the receiver's certificate is from. */
  readonly caPem: string;
  /** A data folder that stays when the relay is stopped; one of its own, empty, when left out. */
  readonly dataDir?: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly nodeOptions?: readonly string[];
  /** The Node that runs it; this process's own when left out. */
  readonly node?: string;
}

/** Access to a tenant: plain data, good for as long as its relay's data folder is kept. */
export interface TenantRecord {
  readonly tenantId: string;
  readonly login: { readonly email: string; readonly password: string };
  readonly apiKey: string;
  readonly apiKeyId: string;
  /** In the order of the URLs given. */
  readonly destinations: readonly { readonly id: string; readonly ingestToken: string }[];
  /** A sender that fans out to all destinations: producers post to it, for one of so many owners. */
  readonly sender?: { readonly id: string; readonly ingestToken: string; readonly owners: number };
}

/** Access to a tenant with a sender that fans out. */
export type FanOutRecord = TenantRecord & Required<Pick<TenantRecord, "sender">>;

/** A tenant with its destinations, as a producer and an owner use them. */
export interface Account {
  /** One for each destination, in their order; or the sender that fans out to them. */
  readonly targets: readonly Target[];
  /** The number of destinations that get each event. */
  readonly copies: number;
  readonly login: TenantRecord["login"];
  /** The API as its owner may use it. */
  readonly owner: ApiClient;
  /** Counts by the relay's lists, which cover all acknowledged events; without the events of earlier loads. */
  standing(): Promise<Standing>;
  /** Resolves when no event waits any more that did not before; throws when that takes too long. */
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
  readonly #kill = () => {
    this.#process.kill("SIGKILL");
    remove(this.folder);
  };

  private constructor(child: ChildProcess, folder: string, url: string) {
    this.pid = pidOf(child);
    this.folder = folder;
    this.url = url;
    this.#process = child;
    running.add(this.#kill);
  }

  /** Starts the relay; its log goes to a file in a folder of its own, as a supervisor would have it. */
  static async start(
    { caPem, environment = {}, nodeOptions = [], node = process.execPath, ...given }: RelayOptions,
  ): Promise<RelayProcess> {
    const folder = mkdtempSync(join(tmpdir(), "relay-bench-"));
    const caFile = join(folder, "receiver-ca.pem");
    writeFileSync(caFile, caPem);
    const logFile = join(folder, "relay.log");
    const log = openSync(logFile, "a");
    const child = spawn(node, [...nodeFlags, ...nodeOptions, "build/src/main.js"], {
      cwd: project,
      stdio: ["ignore", log, "inherit"],
      env: {
        ...process.env,
        MALLOC_TRIM_THRESHOLD_: "1048576",
        RELAY_PORT: "0",
        RELAY_DATA_DIR: given.dataDir ?? join(folder, "data"),
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
    const said = readFileSync(logFile, "utf8").slice(-2000);
    remove(folder);
    throw new Error(`the relay did not start:\n${said}`);
  }

  /** Creates a tenant with one destination for each URL; `tenant` and `destination` are further fields of theirs. */
  async createTenant(urls: readonly string[], tenant: Json = {}, destination: Json = {}): Promise<TenantRecord> {
    const anyone = new ApiClient(this.url);
    const name = `bench ${crypto.randomUUID()}`;
    const login = { email: `${crypto.randomUUID()}@bench.example`, password: "correct horse battery" };
    const created = await anyone.post("/api/v1/tenants", {
      name, ownerEmail: login.email, ownerPassword: login.password, ...tenant,
    });
    const owner = await this.#loggedIn(login);
    const { id, apiKey } = (await owner.post("/api/v1/api-keys", { name: "bench" })) as { id: string; apiKey: string };
    const destinations: { id: string; ingestToken: string }[] = [];
    for (const url of urls) {
      const made = await owner.post("/api/v1/destinations", { url, ...destination });
      destinations.push({ id: text(made, "id"), ingestToken: text(made, "ingestToken") });
    }
    return { tenantId: text(created, "tenantId"), login, apiKey, apiKeyId: id, destinations };
  }

  /** Creates a sender that fans out, to which nobody subscribes yet; its messages will be of so many owners. */
  async createSender(tenant: TenantRecord, owners: number): Promise<FanOutRecord> {
    const owner = await this.#loggedIn(tenant.login);
    const made = await owner.post("/api/v1/senders", { name: "bench", fanOut: true });
    return { ...tenant, sender: { id: text(made, "id"), ingestToken: text(made, "ingestToken"), owners } };
  }

  /** Creates a sender whose messages, all of one owner, fan out to all of a tenant's destinations, at most 100. */
  async subscribeAll(tenant: TenantRecord): Promise<FanOutRecord> {
    const fanned = await this.createSender(tenant, 1);
    const owner = await this.#loggedIn(tenant.login);
    for (const [at, { id: destinationUrlId }] of tenant.destinations.entries()) {
      const ownerId = at < mostWithoutOwner ? null : ownerIdOf(0);
      await owner.post("/api/v1/subscriptions", { senderId: fanned.sender.id, destinationUrlId, ownerId });
    }
    return fanned;
  }

  /** Logs in to a tenant that there is. */
  async openAccount({ tenantId, login, apiKey, destinations, sender }: TenantRecord): Promise<Account> {
    const owner = await this.#loggedIn(login);
    const { hostname: host, port } = new URL(this.url);
    const before = await standingOf(owner);
    const standing = async () => {
      const { delivered, waiting, dead } = await standingOf(owner);
      return {
        delivered: delivered - before.delivered, waiting: waiting - before.waiting, dead: dead - before.dead,
      };
    };
    const target = (ingestToken: string) =>
      ({ host, port: Number(port), path: `/api/v1/ingest/${tenantId}/${ingestToken}`, apiKey });
    return {
      targets: sender
        ? [{ ...target(sender.ingestToken), owners: sender.owners }]
        : destinations.map(({ ingestToken }) => target(ingestToken)),
      copies: sender ? destinations.length : 1,
      login,
      owner,
      standing,
      untilIdle: () => untilIdle(standing),
      patchDestinations: async (change) => {
        for (const { id } of destinations) await owner.patch(`/api/v1/destinations/${id}`, change);
      },
    };
  }

  /** The present text of `/metrics`. */
  async metrics(): Promise<string> {
    return (await fetch(`${this.url}/metrics`)).text();
  }

  /** Drains and ends; its folder goes with it. */
  async stop(): Promise<void> {
    if (this.#process.exitCode === null && this.#process.signalCode === null) {
      const ended = once(this.#process, "exit");
      this.#process.kill("SIGTERM");
      await ended;
    }
    running.delete(this.#kill);
    remove(this.folder);
  }

  async #loggedIn(login: TenantRecord["login"]): Promise<ApiClient> {
    const anyone = new ApiClient(this.url);
    const session = await anyone.post("/api/v1/auth/login", login);
    return anyone.as({ authorization: `Bearer ${text(session, "accessToken")}` });
  }
}

async function untilIdle(standing: () => Promise<Standing>): Promise<void> {
  for (const until = performance.now() + idleTimeoutMs; performance.now() < until; await pause(50)) {
    if ((await standing()).waiting === 0) return;
  }
  throw new Error(`events still wait after ${idleTimeoutMs} ms: ${JSON.stringify(await standing())}`);
}

/** A list's total, once the read models have caught up: with a burst, or with the whole log. */
export async function totalOf(owner: ApiClient, query: string): Promise<number> {
  for (;;) {
    try {
      return Number((await owner.get(`/api/v1/events?Qt=1${query}`))["total"]);
    } catch (error) {
      if (!isUnavailable(error)) throw error;
      await pause(50);
    }
  }
}

async function standingOf(owner: ApiClient): Promise<Standing> {
  const sum = async (names: readonly string[]) => {
    const totals = await Promise.all(names.map((status) => totalOf(owner, `&Status=${status}`)));
    return totals.reduce((all, count) => all + count, 0);
  };
  return {
    delivered: await sum(statuses.delivered),
    waiting: await sum(statuses.waiting),
    dead: await sum(statuses.dead),
  };
}

/** A process that was just killed may write into it for a moment still. */
function remove(folder: string): void {
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}
