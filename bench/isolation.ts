import { setTimeout as pause } from "node:timers/promises";
import type { Figure, Report } from "./support/report.ts";
import { rounds, sized } from "./support/size.ts";
import { Stage, type Measured, type Subject } from "./support/stage.ts";
import { median, type Percentiles } from "./support/statistics.ts";

const connections = 200;
const ratePerSecond = 1_000;
const seconds = sized(6, 60);
const warmUpSeconds = 4;
/** Deliveries that come later than this after the load's end are not of its run. */
const graceMs = 1_000;

interface Side {
  readonly latency: Percentiles;
  readonly healthyAccepted: number;
  readonly healthyDelivered: number;
  readonly load: Measured;
}

interface Round {
  readonly without: Side;
  readonly with: Side;
}

interface Comparison {
  readonly taken: readonly Round[];
  readonly ratio: number;
  readonly completeness: number;
}

/** P9, P10, P18: the cost of a destination that never answers to the other destinations. */
export async function isolation(): Promise<Report> {
  const few = await compare(5);
  const many = await compare(100);
  const note = ({ taken, completeness }: Comparison) => {
    const p99 = (side: "with" | "without") => taken.map((round) => round[side].latency.p99.toFixed(1)).join(", ");
    return `p99 in ms by round, without: ${p99("without")}; with: ${p99("with")}; rounds of ${seconds} s, ` +
      `medians compared; ${(completeness * 100).toFixed(3)} % of the healthy delivered within ${graceMs} ms of the end`;
  };
  const ratioBounds = { better: "lower", floor: 1.5, aim: 1.1 } as const;
  const figures: Figure[] = [
    {
      id: "P9", what: "1 of 100 destinations dead, 1,000/s: healthy p99 ÷ without",
      bounds: ratioBounds, measured: many.ratio, note: note(many),
    },
    {
      id: "P10", what: "… and the share of healthy deliveries finished",
      bounds: { better: "higher", floor: 99.9, aim: 100, unit: "%" },
      measured: many.completeness * 100, note: "as above",
    },
    {
      id: "P18", what: "1 of 5 destinations dead, 1,000/s: healthy p99 ÷ without",
      bounds: ratioBounds, measured: few.ratio, note: note(few),
    },
    {
      id: "P18", what: "… and the share of healthy deliveries finished",
      bounds: { better: "higher", floor: 100, aim: 100, unit: "%" },
      measured: few.completeness * 100, note: "as above",
    },
  ];
  return {
    name: "isolation", figures, ledger: [...few.ledger, ...many.ledger],
    rounds: { few: few.taken, many: many.taken },
  };
}

/** Two relays under the same load in turn; on one of them the first destination is silent. */
async function compare(destinations: number): Promise<Comparison & Pick<Report, "ledger">> {
  const stage = await Stage.open(destinations);
  try {
    const healthy = stage.urls("/fast");
    // Ingest refuses events of a destination with an open circuit: here the silent one's circuit never opens.
    const options = { tenant: { maxTrys: 10_000 } };
    const without = await stage.subject(healthy, options);
    const withDead = await stage.subject([...stage.urls("/silent").slice(0, 1), ...healthy.slice(1)], options);
    const noneDead = (seconds: number) => sideOf(stage, without, seconds, false);
    const oneDead = (seconds: number) => sideOf(stage, withDead, seconds, true);
    await noneDead(warmUpSeconds);
    await oneDead(warmUpSeconds);
    const taken: Round[] = [];
    for (let round = 0; round < rounds; round += 1) {
      taken.push({ without: await noneDead(seconds), with: await oneDead(seconds) });
    }
    const sum = (of: (side: Side) => number) => taken.reduce((all, round) => all + of(round.with), 0);
    const p99 = (side: "with" | "without") => median(taken.map((round) => round[side].latency.p99));
    const name = `of ${destinations}`;
    return {
      taken,
      ratio: p99("with") / p99("without"),
      completeness: sum(({ healthyDelivered }) => healthyDelivered) / sum(({ healthyAccepted }) => healthyAccepted),
      ledger: [...await stage.ledger(`0 ${name}`, without), ...await stage.ledger(`1 ${name}`, withDead)],
    };
  } finally {
    await stage.close();
  }
}

async function sideOf(stage: Stage, subject: Subject, forSeconds: number, firstIsDead: boolean): Promise<Side> {
  const events = ratePerSecond * forSeconds;
  const load = await stage.open(subject, { connections, ratePerSecond, events }, () => pause(graceMs));
  // Events of the silent destination are in no sample: the receiver never answers them.
  const { delivered, latency } = await stage.arrivals(load);
  const dead = firstIsDead ? load.acceptedBy[0] ?? 0 : 0;
  return { latency, healthyAccepted: load.accepted - dead, healthyDelivered: delivered, load };
}
