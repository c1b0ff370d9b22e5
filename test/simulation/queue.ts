import {
  QueueUnavailable, type QueueSession, type WorkConsumer, type WorkItem, type WorkQueue,
} from "../../src/kernel/ports/work-queue.ts";
import { Engine } from "./engine.ts";
import type { SimulatedProcess } from "./process.ts";
import type { Random } from "./random.ts";
import type { Scheduler } from "./scheduler.ts";
import type { Trace } from "./trace.ts";

const partitions = 6;
/** The time after which a silent member is given up, ms. */
const sessionTimeoutMs = 6_000;

interface Member {
  readonly process: SimulatedProcess;
  readonly consumer: WorkConsumer;
  session: { alive: boolean };
  /** The last session that the consumer has heard of. */
  told: QueueSession | undefined;
  owned: ReadonlySet<number>;
  /** Whether the consumer has stopped. */
  left: boolean;
}

/** How the queue treats messages: shares from 0 to 1, times in ms. */
export interface QueueCondition {
  readonly lose: number;
  readonly repeat: number;
  readonly late: number;
  readonly lateMs: number;
  /** The longest hand-over. */
  readonly handOverMs: number;
}

export const calmQueue: QueueCondition = { lose: 0, repeat: 0, late: 0, lateMs: 0, handOverMs: 100 };

/**
 * The work queue of the simulated world: partitions by destination, each owned by one member. At every change of the
 * membership all sessions end before the first new one begins.
 */
export class SimulatedQueue {
  readonly engine: Engine;
  condition = calmQueue;
  readonly #scheduler: Scheduler;
  readonly #random: Random;
  readonly #trace: Trace;
  readonly #members = new Set<Member>();
  /** Items not taken yet, by partition. */
  readonly #stored = new Map<number, WorkItem[]>();
  #rebalancing = false;
  readonly #had = new Map<SimulatedProcess, Map<number, number>>();
  /** When the newest session of each partition began, ms. */
  readonly #begun = new Map<number, number>();

  constructor(parts: { readonly scheduler: Scheduler; readonly random: Random; readonly trace: Trace }) {
    this.#scheduler = parts.scheduler;
    this.#random = parts.random;
    this.#trace = parts.trace;
    const unavailable = (message: string) => new QueueUnavailable(message);
    this.engine = new Engine("the queue", { random: parts.random, unavailable });
  }

  /** Until when the process owned the destination, ms: Infinity while it does, -Infinity if it never did. */
  hadUntil(process: SimulatedProcess, destinationId: string): number {
    return this.#had.get(process)?.get(partitionOf(destinationId)) ?? -Infinity;
  }

  /** When the destination last got an owner, ms; undefined before the first. */
  handedOverAt(destinationId: string): number | undefined {
    return this.#begun.get(partitionOf(destinationId));
  }

  /** The access of a process. */
  client(process: SimulatedProcess): WorkQueue {
    return {
      publish: (items) => process.ask(this.engine, () => this.#publish(items)),
      consume: (consumer) => process.ask(this.engine, () => this.#join({
        process, consumer, session: { alive: false }, told: undefined, owned: new Set(), left: false,
      })),
    };
  }

  /** A process has died without leaving the queue. */
  abandoned(process: SimulatedProcess): void {
    for (const member of this.#members) {
      if (member.process !== process) continue;
      this.#scheduler.after(sessionTimeoutMs, () => {
        if (this.#members.delete(member)) this.rebalance();
      });
    }
  }

  /** A process is silent for `ms`: its members are given up after the session timeout, and join again at the end. */
  silent(process: SimulatedProcess, ms: number): void {
    if (ms <= sessionTimeoutMs) return;
    for (const member of [...this.#members].filter((one) => one.process === process)) {
      this.#scheduler.after(sessionTimeoutMs, () => {
        if (!this.#members.delete(member)) return;
        this.#over(member);
        this.rebalance();
        this.#scheduler.after(ms - sessionTimeoutMs, () => {
          if (member.left || process.crashed) return;
          this.#members.add(member);
          this.rebalance();
        });
      });
    }
  }

  /** Ends all members' sessions, and assigns the partitions again. */
  rebalance(): void {
    for (const member of this.#members) this.#over(member);
    if (this.#rebalancing) return;
    this.#rebalancing = true;
    this.#scheduler.after(this.#random.between(0, this.condition.handOverMs), () => {
      this.#rebalancing = false;
      const members = [...this.#members];
      this.#trace.add(`queue shared out among ${members.map(({ process }) => process.name).join(" ")}`);
      const shares = members.map(() => new Set<number>());
      for (let partition = 0; partition < partitions && members.length > 0; partition += 1) {
        this.#random.pick(shares).add(partition);
      }
      members.forEach((member, at) => this.#begin(member, shares[at] ?? new Set()));
    });
  }

  #begin(member: Member, owned: ReadonlySet<number>): void {
    const session = { alive: true };
    // A member that missed a session cannot know the work of other owners meanwhile: it must begin again.
    const missedOne = member.told !== member.session;
    this.#over(member);
    const had = this.#had.get(member.process) ?? new Map<number, number>();
    for (const partition of owned) had.set(partition, Infinity);
    this.#had.set(member.process, had);
    member.session = session;
    member.owned = owned;
    for (const partition of owned) this.#begun.set(partition, this.#scheduler.now);
    this.#scheduler.after(this.#random.between(0, this.condition.handOverMs), () => member.process.hear(() => {
      if (member.session !== session) return;
      member.told = session;
      if (missedOne) member.consumer.reassign(() => true, session);
      member.consumer.reassign((destinationId) => !owned.has(partitionOf(destinationId)), session);
      for (const partition of owned) this.#deliver(partition);
    }));
  }

  #over(member: Member): void {
    member.session.alive = false;
    const had = this.#had.get(member.process);
    for (const [partition, until] of had ?? []) if (until === Infinity) had?.set(partition, this.#scheduler.now);
  }

  #join(member: Member): { stop(): Promise<void> } {
    this.#members.add(member);
    this.rebalance();
    // A request may arrive after the death of its sender.
    if (member.process.crashed) this.abandoned(member.process);
    return {
      stop: async () => {
        member.left = true;
        this.#over(member);
        member.consumer.reassign(() => true, member.session);
        if (this.#members.delete(member)) this.rebalance();
      },
    };
  }

  #publish(items: readonly WorkItem[]): void {
    const { lose, repeat, late, lateMs } = this.condition;
    const touched = new Set<number>();
    for (const item of items) {
      const partition = partitionOf(item.destinationId);
      const copies = (this.#random.chance(lose) ? 0 : 1) + (this.#random.chance(repeat) ? 1 : 0);
      for (let copy = 0; copy < copies; copy += 1) {
        if (this.#random.chance(late)) {
          this.#scheduler.after(this.#random.between(0, lateMs), () => {
            this.#store(partition, item);
            this.#deliver(partition);
          });
        } else {
          this.#store(partition, item);
          touched.add(partition);
        }
      }
    }
    for (const partition of touched) this.#deliver(partition);
  }

  #store(partition: number, item: WorkItem): void {
    this.#stored.set(partition, [...(this.#stored.get(partition) ?? []), item]);
  }

  /** Hands the items of a partition to its owner, if that still owns it when the items arrive. */
  #deliver(partition: number): void {
    const member = [...this.#members].find(({ owned }) => owned.has(partition));
    if (!member) return;
    const { session } = member;
    this.#scheduler.after(this.engine.delay(), () => member.process.hear(() => {
      const items = this.#stored.get(partition);
      if (!items || !session.alive || member.told !== session) return;
      this.#stored.delete(partition);
      member.consumer.take(items, session);
    }));
  }
}

function partitionOf(destinationId: string): number {
  return parseInt(destinationId.slice(-4), 16) % partitions;
}
