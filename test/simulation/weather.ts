import { calm, type Condition } from "./engine.ts";
import type { Rules } from "./model.ts";
import { calmQueue, type QueueCondition } from "./queue.ts";
import type { Random } from "./random.ts";

/** The faults of one run: times in ms, shares from 0 to 1. A mean pause of Infinity: never. */
export interface Weather {
  readonly processes: number;
  readonly tenants: number;
  readonly operations: number;
  /** The time of operations and faults. */
  readonly activeMs: number;
  readonly log: Condition;
  readonly readModels: Condition;
  readonly state: Condition;
  readonly queueEngine: Condition;
  readonly queue: QueueCondition;
  readonly lagMs: number;
  readonly batchDelayMs: number;
  /** Whether reads of the log return deleted entries. */
  readonly keepsDeleted: boolean;
  /** Whether there are no faults at all. */
  readonly fair: boolean;
  /** The largest difference between the clocks of two processes, ms. */
  readonly skewMs: number;
  /** Mean pauses between faults of a kind. */
  readonly crashEveryMs: number;
  /** The share of crashes in the middle of a request to an engine. */
  readonly crashAtQuestion: number;
  readonly stopEveryMs: number;
  readonly stallEveryMs: number;
  readonly stallMs: number;
  readonly outageEveryMs: number;
  readonly outageMs: number;
  readonly jumpEveryMs: number;
  readonly jumpMs: number;
  readonly rebalanceEveryMs: number;
  /** Between losses of the read models. */
  readonly lossEveryMs: number;
  /** The mean pause between changes of a receiver's temper, and the share of bad tempers. */
  readonly moodEveryMs: number;
  readonly moody: number;
  /** The longest pause that a busy receiver asks for. */
  readonly busyMs: number;
}

/** The weather of a seed. `scale` multiplies the number of operations; `fair`: there are no faults at all. */
export function weatherOf(random: Random, options: { readonly scale: number; readonly fair: boolean }): Weather {
  const { scale, fair } = options;
  const bad = !random.chance(0.1) && !fair;
  const sometimes = (share: number) => bad && random.chance(share);
  const condition = (): Condition => ({
    usualMs: random.spread(0.5, 8),
    slow: sometimes(0.5) ? random.spread(0.001, 0.05) : 0,
    slowMs: random.spread(20, random.chance(0.2) ? 12_000 : 1_500),
    failBefore: sometimes(0.4) ? random.spread(0.001, 0.05) : 0,
    failAfter: sometimes(0.4) ? random.spread(0.001, 0.05) : 0,
  });
  const every = (share: number, low: number, high: number) => (sometimes(share) ? random.spread(low, high) : Infinity);
  const processes = random.pick([1, 1, 2, 3]);
  const activeMs = random.spread(15_000, 90_000);
  return {
    processes,
    tenants: random.pick([1, 2, 2, 3]),
    operations: Math.ceil(random.spread(100, 2_500) * scale),
    activeMs,
    log: bad ? condition() : calm,
    readModels: bad ? condition() : calm,
    state: bad ? condition() : calm,
    queueEngine: bad ? condition() : calm,
    queue: bad
      ? {
        lose: sometimes(0.5) ? random.spread(0.01, 1) : 0,
        repeat: sometimes(0.5) ? random.spread(0.01, 1) : 0,
        late: sometimes(0.5) ? random.spread(0.01, 1) : 0,
        lateMs: random.spread(10, 20_000),
        handOverMs: random.spread(20, 8_000),
      }
      : calmQueue,
    lagMs: sometimes(0.4) ? random.spread(20, 1_500) : 3,
    batchDelayMs: random.pick([0, 20, 200]),
    keepsDeleted: random.chance(0.3),
    fair: !bad,
    skewMs: processes > 1 && sometimes(0.4) ? random.spread(2, 5_000) : 0,
    crashEveryMs: every(0.5, 2_000, 60_000),
    crashAtQuestion: random.next(),
    stopEveryMs: every(0.3, 5_000, 60_000),
    stallEveryMs: every(0.3, 1_000, 30_000),
    stallMs: random.spread(100, random.chance(0.3) ? 15_000 : 2_000),
    outageEveryMs: every(0.3, 5_000, 60_000),
    outageMs: random.spread(100, 8_000),
    jumpEveryMs: every(0.3, 3_000, 30_000),
    jumpMs: random.spread(10, random.chance(0.1) ? 3_600_000 : 60_000),
    rebalanceEveryMs: processes > 1 ? every(0.5, 1_000, 30_000) : Infinity,
    lossEveryMs: every(0.2, 3_000, 60_000),
    moodEveryMs: random.spread(500, 20_000),
    moody: random.chance(0.2) ? 0 : random.next(),
    busyMs: sometimes(0.1) ? 600_000 : 15_000,
  };
}

/** The sweeper finds forgotten work within this time, ms. */
const roundMs = 4_000;

/** The longest time until a possible attempt begins, ms; unbounded with faults. */
export function promptness({ fair }: Weather): Pick<Rules, "promptMs" | "relimitedMs"> {
  // A wake-up may come before the new limit that caused it.
  return { promptMs: fair ? 1_000 : Infinity, relimitedMs: roundMs };
}

/** The longest time until a fact has reached all processes, and their earlier actions have shown, ms. */
export function newsMs({ log, readModels, lagMs, stallEveryMs, stallMs, outageEveryMs, outageMs }: Weather): number {
  const slowest = (one: Condition) => (one.slow > 0 ? Math.max(one.slowMs, one.usualMs) : one.usualMs);
  const stall = stallEveryMs < Infinity ? stallMs : 0;
  const outage = outageEveryMs < Infinity ? outageMs : 0;
  // Recording an outcome is tried again a little later after a failure.
  const again = log.failBefore + log.failAfter > 0 ? 2_500 : 0;
  return 20 + again + lagMs + 8 * slowest(log) + 2 * slowest(readModels) + stall + outage;
}
