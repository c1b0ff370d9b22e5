import { Node, type Engines, type NodeSettings } from "./node.ts";
import { SimulatedProcess, type WallTime } from "./process.ts";
import type { Random } from "./random.ts";
import type { Scheduler } from "./scheduler.ts";
import type { Trace } from "./trace.ts";

interface FleetParts {
  readonly engines: Engines;
  readonly scheduler: Scheduler;
  readonly wall: WallTime;
  readonly trace: Trace;
  readonly random: Random;
  readonly count: number;
  /** The largest difference between the clocks of two processes, ms. */
  readonly skewMs: number;
  readonly settings: NodeSettings;
}

/** The running processes; a new one follows each that dies. */
export class Fleet {
  crashes = 0;
  readonly #parts: FleetParts;
  readonly #nodes = new Set<Node>();
  #started = 0;

  constructor(parts: FleetParts) {
    this.#parts = parts;
    parts.engines.readModels.wanted = (position) => {
      for (const node of this.#nodes) node.flush(position);
    };
  }

  start(): void {
    for (let n = 0; n < this.#parts.count; n += 1) this.#begin();
  }

  /** The smallest number of requests to engines that a living process has made. */
  get questions(): number {
    return [...this.#nodes].reduce((least, { process }) => Math.min(least, process.questions), Infinity);
  }

  /** A ready process, if any. */
  any(): Node | undefined {
    const ready = [...this.#nodes].filter((node) => node.ready);
    return ready.length === 0 ? undefined : this.#parts.random.pick(ready);
  }

  /** Kills a process without warning. */
  crash(): void {
    const node = this.#some();
    if (node) this.#kill(node);
  }

  /**
   * Kills a process at its request to an engine after `left` further ones; if `done`, the engine still performs that
   * request.
   */
  crashAtQuestion(left: number, done: boolean): void {
    const node = this.#some();
    node?.process.dieAtQuestion(left, done, () => {
      if (this.#nodes.has(node)) this.#kill(node);
    });
  }

  /** Stops a process gracefully. */
  stop(): void {
    const node = this.any();
    if (!node) return;
    this.#parts.trace.add(`${node.process.name} is told to stop`);
    const over = () => {
      if (!node.process.crashed) this.#end(node);
    };
    node.stop(3_000).then(over, over);
    // A process that does not stop in time is ended.
    this.#parts.scheduler.after(15_000, over);
  }

  /** Stalls a process. */
  stall(ms: number): void {
    const process = this.#some()?.process;
    if (!process?.stall(ms)) return;
    this.#parts.trace.add(`${process.name} is held up for ${ms.toFixed(0)} ms`);
    this.#parts.engines.queue.silent(process, ms);
  }

  /** A process that only reads. */
  onlooker(): SimulatedProcess {
    return this.#process("onlooker");
  }

  #some(): Node | undefined {
    return this.#nodes.size === 0 ? undefined : this.#parts.random.pick([...this.#nodes]);
  }

  #kill(node: Node): void {
    this.crashes += 1;
    this.#parts.trace.add(`${node.process.name} crashes`);
    this.#end(node);
  }

  #end(node: Node): void {
    node.ready = false;
    node.process.crash();
    this.#nodes.delete(node);
    this.#parts.engines.queue.abandoned(node.process);
    this.#parts.scheduler.after(this.#parts.random.between(100, 5_000), () => this.#begin());
  }

  #begin(): void {
    const { engines, settings, trace } = this.#parts;
    const process = this.#process(`p${(this.#started += 1)}`);
    const node = new Node(process, engines, settings, trace);
    this.#nodes.add(node);
    trace.add(`${process.name} starts`);
    node.start().then(
      () => trace.add(`${process.name} is ready`),
      (error: unknown) => {
        trace.add(`${process.name} did not start: ${String(error)}`);
        this.#end(node);
      },
    );
  }

  #process(name: string): SimulatedProcess {
    const { scheduler, wall, random, skewMs } = this.#parts;
    const own = random.fork(name);
    return new SimulatedProcess(name, { scheduler, wall, random: own, skewMs: Math.round(own.between(0, skewMs)) });
  }
}
