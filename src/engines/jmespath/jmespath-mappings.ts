import { LRUCache } from "lru-cache";
import { Refusal, refuse } from "../../kernel/domain/refusal.ts";
import { type Clock, type Timer, Pause } from "../../kernel/ports/clock.ts";
import type { Mapped, Mappings } from "../../kernel/ports/mapping.ts";
import type { Logger, Metrics } from "../../kernel/ports/telemetry.ts";
import { FairQueue } from "../../kernel/tools/fair-queue.ts";
import { MappingProcess } from "./mapping-process.ts";
import type { TaskResult, Task } from "./protocol.ts";

/** Processor time of an expression, and the watchdog's longest limit on a busy machine. */
const timeoutMs = 15;
const watchdogMs = 400;
/** When a process is killed from outside; a busy machine alone must not cause it. */
const hardLimitMs = 1_000;
/** A tenant that took more processor time, or lost a process, counts as slow for some time. */
const slowMs = 5;
const slowForMs = 10_000;
const slowRemembered = 10_000;
/** One process is always left to tenants with quick mappings. */
const mostProcesses = 2;
const patienceMs = 2_000;
const startAgainAfterMs = 500;
const mostWaitingOfTenant = 256;
const mostWaitingCharacters = 32 * 1024 * 1024;
const tooMany = "too many payloads wait to be mapped; try again";

interface Waiting {
  readonly tenantId: string;
  readonly task: Task;
  readonly resolve: (outcome: TaskResult) => void;
  readonly reject: (error: Error) => void;
  readonly patience: Timer;
  late: boolean;
  retried: boolean;
}

interface JmespathMappingsParts {
  readonly metrics: Pick<Metrics, "anomaly">;
  readonly logger: Pick<Logger, "warn">;
  readonly clock: Pick<Clock, "monotonic" | "schedule">;
}

/** JMESPath in processes started when needed. Slow tenants leave a process to the others. See docs/adr/0009. */
export class JmespathMappings implements Mappings {
  readonly #maxBytes: number;
  readonly #parts: JmespathMappingsParts;
  readonly #startPause: Pause;
  readonly #queue = new FairQueue<Waiting>(({ task }) => sizeOf(task));
  readonly #idle: MappingProcess[] = [];
  readonly #slow: LRUCache<string, true>;
  readonly #told: LRUCache<string, true>;
  readonly #all = new Set<MappingProcess>();
  /** Slow tenants leave a running process to the others. */
  readonly #may = (tenantId: string) => !this.#slow.has(tenantId) || this.#runningSlow < this.#all.size - 1;
  #starting = false;
  #failing = false;
  #runningSlow = 0;
  #waitingCharacters = 0;
  #closed = false;

  /** `maxBytes`: of a mapped payload, as UTF-8. */
  constructor(parts: JmespathMappingsParts, maxBytes: number) {
    this.#parts = parts;
    this.#startPause = new Pause(parts.clock);
    const perf = { now: () => parts.clock.monotonic() };
    this.#slow = new LRUCache({ max: slowRemembered, ttl: slowForMs, perf });
    this.#told = new LRUCache({ max: slowRemembered, ttl: slowForMs, perf });
    this.#maxBytes = maxBytes;
  }

  async problemOf(tenantId: string, expression: string): Promise<string | null> {
    const outcome = await this.#ask(tenantId, { expression, payload: null });
    return "problem" in outcome ? outcome.problem : null;
  }

  async apply(tenantId: string, expression: string, payload: string): Promise<Mapped> {
    const outcome = await this.#ask(tenantId, { expression, payload });
    return "problem" in outcome ? { problem: outcome.problem } : { text: outcome.text ?? "" };
  }

  close(): void {
    this.#closed = true;
    this.#startPause.end();
    this.#refuseAll("the relay is stopping");
    for (const process of this.#all) process.kill();
  }

  #ask(tenantId: string, task: Task): Promise<TaskResult> {
    const characters = sizeOf(task);
    if (this.#closed) refuse("unavailable", "the relay is stopping");
    if (this.#queue.waiting(tenantId) >= mostWaitingOfTenant) refuse("unavailable", tooMany);
    while (this.#waitingCharacters + characters > mostWaitingCharacters) this.#makeRoom(tenantId, characters);
    this.#waitingCharacters += characters;
    return new Promise((resolve, reject) => {
      const patience = this.#parts.clock.schedule(patienceMs, () => this.#late(waiting));
      const waiting: Waiting = { tenantId, task, resolve, reject, patience, late: false, retried: false };
      this.#queue.push(tenantId, waiting);
      this.#next();
    });
  }

  /** Refuses the newest task of the tenant with the most characters, unless this tenant would then have as many. */
  #makeRoom(tenantId: string, characters: number): void {
    this.#refuse(this.#queue.takeForRoom(tenantId, characters) ?? refuse("unavailable", tooMany), tooMany);
  }

  /** Assigns tasks to idle processes, and starts another process if tasks still wait. */
  #next(): void {
    for (let process = this.#idle.pop(); process; process = this.#idle.pop()) {
      const next = this.#queue.take(this.#may);
      if (!next) {
        this.#idle.push(process);
        break;
      }
      void this.#run(process, next);
    }
    if (!this.#starting && this.#all.size < mostProcesses && !this.#queue.isEmpty) void this.#start();
  }

  #late(waiting: Waiting): void {
    waiting.late = true;
    if (this.#queue.remove(waiting.tenantId, waiting)) this.#refuse(waiting, tooMany);
  }

  async #start(): Promise<void> {
    this.#starting = true;
    try {
      const options = { timeoutMs, patienceMs: watchdogMs, maxBytes: this.#maxBytes };
      const process = await MappingProcess.start(options, (ended) => this.#forget(ended));
      this.#all.add(process);
      this.#idle.push(process);
      this.#failing = false;
    } catch (error) {
      this.#tellOfFailedStart(error);
      if (this.#all.size === 0) this.#refuseAll("payloads cannot be mapped at the moment; try again");
      if (!this.#closed) await this.#startPause.wait(startAgainAfterMs);
    }
    this.#starting = false;
    if (this.#closed) for (const process of this.#all) process.kill();
    else this.#next();
  }

  #tellOfFailedStart(error: unknown): void {
    const { logger, metrics } = this.#parts;
    metrics.anomaly("mapping process start");
    // Logged once per outage.
    if (!this.#failing) logger.warn({ err: error }, "mapping processes cannot be started at the moment: trying again");
    this.#failing = true;
  }

  async #run(process: MappingProcess, waiting: Waiting): Promise<void> {
    const { tenantId, task } = waiting;
    const slow = this.#slow.has(tenantId);
    if (slow) this.#runningSlow += 1;
    const outcome = await process.run(task, hardLimitMs);
    if (slow) this.#runningSlow -= 1;
    if (outcome === null || outcome.cpuMs > slowMs) this.#slow.set(tenantId, true);
    if (outcome) {
      this.#idle.push(process);
      this.#settle(waiting, outcome);
    } else {
      this.#all.delete(process);
      this.#lost(waiting);
    }
    this.#next();
  }

  #tellOfLoss(tenantId: string): void {
    const { logger, metrics } = this.#parts;
    metrics.anomaly("mapping process lost");
    if (this.#told.has(tenantId)) return;
    this.#told.set(tenantId, true);
    logger.warn({ tenantId }, "a mapping process was lost over an expression");
  }

  /** The expression may be innocent: a busy machine can stop any process. */
  #lost(waiting: Waiting): void {
    if (this.#closed) return this.#refuse(waiting, "the relay is stopping");
    this.#tellOfLoss(waiting.tenantId);
    if (waiting.retried) {
      this.#settle(waiting, { problem: "goes beyond its bounds of time or memory", cpuMs: hardLimitMs });
    } else if (waiting.late) this.#refuse(waiting, tooMany);
    else {
      waiting.retried = true;
      this.#queue.putBack(waiting.tenantId, waiting);
    }
  }

  #forget(process: MappingProcess): void {
    this.#all.delete(process);
    const index = this.#idle.indexOf(process);
    if (index >= 0) this.#idle.splice(index, 1);
    if (!this.#closed) this.#next();
  }

  #settle(waiting: Waiting, outcome: TaskResult): void {
    this.#done(waiting);
    waiting.resolve(outcome);
  }

  #refuse(waiting: Waiting, why: string): void {
    this.#done(waiting);
    waiting.reject(new Refusal("unavailable", why));
  }

  #done({ patience, task }: Waiting): void {
    patience.cancel();
    this.#waitingCharacters -= sizeOf(task);
  }

  #refuseAll(why: string): void {
    for (const waiting of this.#queue.clear()) this.#refuse(waiting, why);
  }
}

function sizeOf({ expression, payload }: Task): number {
  return expression.length + (payload?.length ?? 0);
}
