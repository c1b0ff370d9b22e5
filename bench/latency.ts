import type { Arrivals } from "./processes/receiver.ts";
import type { Figure, Report } from "./support/report.ts";
import { rounds, sized } from "./support/size.ts";
import { Stage, type Measured, type Subject } from "./support/stage.ts";
import { median } from "./support/statistics.ts";

const destinations = 20;
const connections = 100;
const seconds = sized(4, 30);

interface Round extends Arrivals {
  readonly load: Measured;
}

/** P4, P17: from the moment a request was due to its first byte at the receiver. */
export async function latency(): Promise<Report> {
  const stage = await Stage.open(destinations);
  try {
    const subject = await stage.subject(stage.urls("/fast"));
    await stage.warmUp(subject);
    await roundOf(stage, subject, 1_000);
    const busy: Round[] = [];
    const calm: Round[] = [];
    for (let round = 0; round < rounds; round += 1) {
      busy.push(await roundOf(stage, subject, 2_000));
      calm.push(await roundOf(stage, subject, 500));
    }
    const ledger = await stage.ledger("relay", subject);
    return { name: "latency", figures: figuresOf(busy, calm), ledger, rounds: { busy, calm } };
  } finally {
    await stage.close();
  }
}

async function roundOf(stage: Stage, subject: Subject, ratePerSecond: number): Promise<Round> {
  const events = ratePerSecond * seconds;
  const load = await stage.open(subject, { connections, ratePerSecond, events }, await stage.delivered(subject));
  return { ...await stage.arrivals(load), load };
}

function figuresOf(busy: readonly Round[], calm: readonly Round[]): Figure[] {
  const best = (taken: readonly Round[], share: "p50" | "p99") =>
    Math.min(...taken.map(({ latency: sample }) => sample[share]));
  const noteOf = (taken: readonly Round[], rate: number) => {
    const p99s = taken.map(({ latency: { p99 } }) => p99.toFixed(1)).join(", ");
    const answers = median(taken.map(({ load }) => load.answerMs.p99)).toFixed(1);
    const repeated = taken.reduce((sum, round) => sum + round.repeated, 0);
    return `${rate}/s over ${destinations} destinations, best of ${taken.length} rounds of ${seconds} s; ` +
      `p99 of each: ${p99s}; due to 202, median p99: ${answers}; delivered twice: ${repeated}`;
  };
  return [
    {
      id: "P4", what: "due to first byte at 2,000/s, p99",
      bounds: { better: "lower", floor: 25, aim: 10, unit: "ms" }, measured: best(busy, "p99"),
      note: noteOf(busy, 2_000),
    },
    {
      id: "P17", what: "due to first byte at 500/s, p50",
      bounds: { better: "lower", floor: 3.5, aim: 2, unit: "ms" }, measured: best(calm, "p50"),
      note: noteOf(calm, 500),
    },
    {
      id: "P17", what: "due to first byte at 500/s, p99",
      bounds: { better: "lower", floor: 7, aim: 4, unit: "ms" }, measured: best(calm, "p99"), note: "as above",
    },
  ];
}
