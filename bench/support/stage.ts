import { setTimeout as pause } from "node:timers/promises";
import type { BareServerApi } from "../processes/bare-server.ts";
import type { ClosedLoad, GeneratorApi, LoadResult, OpenLoad, Target } from "../processes/generator.ts";
import type { RawClientApi, RawResult } from "../processes/raw-client.ts";
import type { Arrivals, ReceiverApi } from "../processes/receiver.ts";
import { startProcess, type Remote } from "./child.ts";
import { cpuOf, cpuSince, type CpuTime } from "./cpu.ts";
import { RelayProcess, type Account, type RelayOptions, type TenantRecord } from "./relay.ts";
import { imbalances, type LedgerLine } from "./report.ts";

const drainTimeoutMs = 120_000;
const settleTimeoutMs = 15_000;
const warmUpMs = 4_000;

/** A load, and the CPU time that the loaded process used for it. */
export interface Measured extends LoadResult {
  readonly firstSeq: number;
  readonly copies: number;
  readonly cpu: CpuTime;
}

/** The raw client's result, and the CPU time that it used. */
export interface RawMeasured extends RawResult {
  readonly firstSeq: number;
  readonly cpu: CpuTime;
}

/** A process that accepts events, and the events sent to it so far. */
export interface Server {
  readonly pid: number;
  readonly targets: readonly Target[];
  /** The number of receivers that get each event. */
  readonly copies: number;
  readonly loads: Measured[];
}

/** The relay with an account on it. */
export interface Subject extends Server {
  readonly relay: RelayProcess;
  readonly account: Account;
}

export interface SubjectOptions extends Omit<RelayOptions, "caPem"> {
  /** Fields of the tenant and of each destination, where they are not the defaults. */
  readonly tenant?: object;
  readonly destination?: object;
  /** Producers post messages to a sender that fans out to all destinations. */
  readonly fanOut?: true;
}

/** The events of a load, by their numbers. */
interface Sent {
  readonly firstSeq: number;
  readonly sent: number;
  readonly copies?: number;
}

/** The part of a load that the stage knows. */
type Numbered = Pick<ClosedLoad, "targets" | "firstSeq" | "copies">;

/** Waits until all work that a load caused is done, so that the CPU time read then covers all of it. */
type Settled = (result: LoadResult) => Promise<unknown>;
const atOnce: Settled = async () => undefined;

/** Load generator, receiver and baselines, each in a process of its own; every event has a number of its own. */
export class Stage {
  readonly receiver: Remote<ReceiverApi>;
  readonly caPem: string;
  readonly #ports: readonly number[];
  readonly #generator = startProcess<GeneratorApi>("generator.ts");
  readonly #subjects: Subject[] = [];
  readonly #baselines: { stop(): Promise<void> }[] = [];
  readonly #rawLoads: RawMeasured[] = [];
  #nextSeq: number;

  private constructor(receiver: Remote<ReceiverApi>, ports: readonly number[], caPem: string, firstSeq: number) {
    this.receiver = receiver;
    this.#ports = ports;
    this.caPem = caPem;
    this.#nextSeq = firstSeq;
  }

  /** A receiver with this many origins, and a generator. Loads use numbers from `firstSeq` on. */
  static async open(origins: number, firstSeq = 0): Promise<Stage> {
    const receiver = startProcess<ReceiverApi>("receiver.ts");
    const { ports, caPem } = await receiver.call("listen", origins);
    return new Stage(receiver, ports, caPem, firstSeq);
  }

  /** One URL for each of the receiver's origins. */
  urls(path: string): readonly string[] {
    return this.#ports.map((port) => `https://127.0.0.1:${port}${path}`);
  }

  /** Starts a relay with a new tenant on it. */
  subject(urls: readonly string[], options: SubjectOptions = {}): Promise<Subject> {
    const { tenant, destination, fanOut } = options;
    return this.#subject(options, async (relay) => {
      const made = await relay.createTenant(fanOut ? placed(urls) : urls, { ...tenant }, { ...destination });
      return fanOut ? relay.subscribeAll(made) : made;
    });
  }

  /** Starts a relay on a data folder that has this tenant. */
  storedSubject(tenant: TenantRecord, options: Omit<RelayOptions, "caPem">): Promise<Subject> {
    return this.#subject(options, async () => tenant);
  }

  /** A bare `node:http` server. With `keeping` it keeps and lists events, and `settled` waits for that. */
  async bareServer({ keeping } = { keeping: false }): Promise<Server & { readonly settled: Settled }> {
    const server = startProcess<BareServerApi>("bare-server.ts");
    this.#baselines.push(server);
    const port = await server.call("listen", { keeping });
    const target = { host: "127.0.0.1", port, path: "/ingest", apiKey: "rk_bench" };
    return { pid: server.pid, targets: [target], copies: 1, loads: [], settled: () => server.call("listed", null) };
  }

  /** A raw undici pool on the receiver's first origin; with `keeping` it records each request and its outcome. */
  async rawClient(connections: number, { keeping } = { keeping: false }): Promise<Remote<RawClientApi>> {
    const client = startProcess<RawClientApi>("raw-client.ts");
    this.#baselines.push(client);
    await client.call("connect", { origin: this.urls("")[0] ?? "", caPem: this.caPem, connections, keeping });
    return client;
  }

  /** Loads the server as fast as its answers come. */
  async closed(
    server: Server, load: Omit<ClosedLoad, keyof Numbered>, settled: Settled = atOnce,
  ): Promise<Measured> {
    return this.#measured(server, settled, (numbered) => this.#generator.call("closed", { ...numbered, ...load }));
  }

  /** Loads the server at a rate of its own. */
  async open(
    server: Server, load: Omit<OpenLoad, keyof Numbered>, settled: Settled = atOnce,
  ): Promise<Measured> {
    return this.#measured(server, settled, (numbered) => this.#generator.call("open", { ...numbered, ...load }));
  }

  /** Lets the raw client send to the receiver, at full speed or at a rate. */
  async raw(
    client: Remote<RawClientApi>,
    load: { readonly events: number } & ({ readonly concurrency: number } | { readonly ratePerSecond: number }),
  ): Promise<RawMeasured> {
    const firstSeq = this.#nextSeq;
    const before = cpuOf(client.pid);
    const result = "concurrency" in load
      ? await client.call("closed", { firstSeq, ...load })
      : await client.call("open", { firstSeq, ...load });
    this.#nextSeq += result.sent;
    const measured = { ...result, firstSeq, cpu: cpuSince(client.pid, before) };
    this.#rawLoads.push(measured);
    return measured;
  }

  /** The deliveries of a load. */
  arrivals({ firstSeq, sent, copies = 1 }: Sent): Promise<Arrivals> {
    return this.receiver.call("arrivals", { from: firstSeq, to: firstSeq + sent * copies });
  }

  /** Seconds of full load, so that the next measurement does not include the compiler's work. */
  async warmUp(subject: Subject): Promise<void> {
    const load = { connections: 100, durationMs: warmUpMs, maxEvents: Number.MAX_SAFE_INTEGER };
    await this.closed(subject, load, await this.delivered(subject));
  }

  /**
   * To be awaited after a load on the subject: resolves once the receiver has answered every event it accepted, and
   * the relay's lists say so too. Begins to count now.
   */
  async delivered(subject: Subject): Promise<Settled> {
    const before = await this.receiver.call("delivered", null);
    return async ({ accepted }) => {
      await this.untilDelivered(before + accepted * subject.copies);
      await subject.account.untilIdle();
    };
  }

  /** Resolves once the receiver has answered `count` different events, of all there ever were. */
  async untilDelivered(count: number): Promise<void> {
    let delivered = 0;
    for (const until = performance.now() + drainTimeoutMs; performance.now() < until; await pause(10)) {
      delivered = await this.receiver.call("delivered", null);
      if (delivered >= count) return;
    }
    throw new Error(`${delivered} of ${count} events had arrived after ${drainTimeoutMs} ms`);
  }

  /**
   * Whether every event sent to the subject is accounted for: by the generator, the relay's books and the receiver.
   * Outcomes of requests under way get a moment to be recorded.
   */
  async ledger(name: string, subject: Subject): Promise<readonly LedgerLine[]> {
    for (const until = performance.now() + settleTimeoutMs; ; await pause(100)) {
      const lines = await this.#ledgerOf(name, subject);
      if (imbalances(lines).length === 0 || performance.now() > until) return lines;
    }
  }

  /** Whether the receiver had everything the raw client sent. */
  async rawLedger(): Promise<readonly LedgerLine[]> {
    const sent = this.#rawLoads.reduce((sum, load) => sum + load.sent, 0);
    const accepted = this.#rawLoads.reduce((sum, load) => sum + load.accepted, 0);
    return [
      { what: "raw client: sent = answered", left: sent, right: accepted },
      { what: "raw client: answered = arrived", left: accepted, right: await this.#arrivedOf(this.#rawLoads) },
    ];
  }

  async close(): Promise<void> {
    // Requests that wait at the gate would keep their relay from ending.
    await this.receiver.call("gate", true);
    await Promise.all(this.#subjects.map(({ relay }) => relay.stop()));
    await Promise.all([this.receiver, this.#generator, ...this.#baselines].map((child) => child.stop()));
  }

  async #subject(
    options: Omit<RelayOptions, "caPem">, tenantOn: (relay: RelayProcess) => Promise<TenantRecord>,
  ): Promise<Subject> {
    const relay = await RelayProcess.start({ ...options, caPem: this.caPem });
    try {
      const account = await relay.openAccount(await tenantOn(relay));
      const { targets, copies } = account;
      const subject: Subject = { pid: relay.pid, targets, copies, loads: [], relay, account };
      this.#subjects.push(subject);
      return subject;
    } catch (error) {
      await relay.stop();
      throw error;
    }
  }

  async #measured(
    { pid, targets, copies, loads }: Server,
    settled: Settled,
    run: (numbered: Numbered) => Promise<LoadResult>,
  ): Promise<Measured> {
    const firstSeq = this.#nextSeq;
    const before = cpuOf(pid);
    const result = await run({ targets, firstSeq, copies });
    this.#nextSeq += result.sent * copies;
    await settled(result);
    const measured = { ...result, firstSeq, copies, cpu: cpuSince(pid, before) };
    loads.push(measured);
    return measured;
  }

  async #ledgerOf(name: string, { account, copies, loads }: Subject): Promise<readonly LedgerLine[]> {
    const sum = (of: (measured: Measured) => number) => loads.reduce((all, measured) => all + of(measured), 0);
    const accepted = sum((load) => load.accepted);
    const refused = sum((load) => Object.values(load.refused).reduce((all, count) => all + count, 0));
    const { delivered, waiting, dead } = await account.standing();
    const arrived = await this.#arrivedOf(loads);
    return [
      { what: `${name}: sent = accepted + refused`, left: sum(({ sent }) => sent), right: accepted + refused },
      {
        what: `${name}: accepted${copies > 1 ? ` × ${copies}` : ""} = delivered + waiting + dead`,
        left: accepted * copies, right: delivered + waiting + dead,
      },
      { what: `${name}: delivered by the relay's books = arrived`, left: delivered, right: arrived },
    ];
  }

  async #arrivedOf(loads: readonly Sent[]): Promise<number> {
    let arrived = 0;
    for (const load of loads) arrived += (await this.arrivals(load)).delivered;
    return arrived;
  }
}

/** URLs of the receivers of one event: each ends in its place among them. */
export function placed(urls: readonly string[]): readonly string[] {
  return urls.map((url, place) => `${url}/${place}`);
}
