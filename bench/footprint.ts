import { chmodSync, copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { perItem, total } from "./support/cpu.ts";
import { memoryOf, peakDuring } from "./support/memory.ts";
import { RelayProcess } from "./support/relay.ts";
import { byRound, type Figure, type Report } from "./support/report.ts";
import { rounds, sized } from "./support/size.ts";
import { Stage, type Measured } from "./support/stage.ts";

const destinations = 20;
const connections = 100;
const restMs = sized(60_000, 120_000);
const calmSeconds = sized(10, 60);
const saturatedMs = sized(4_000, 30_000);
const maxEvents = 1_000_000;

interface Round {
  readonly calm: Measured;
  readonly busier: Measured;
  readonly saturated: Measured;
  /** The largest look at the memory while saturated, MiB. */
  readonly peak: number;
}

/** P19, P20, P21: memory and CPU of the relay at rest, at low rates and at full speed. */
export async function footprint(): Promise<Report> {
  // A page of a program counts by its share, so the relay runs a Node that no other process of this machine runs.
  const folder = mkdtempSync(join(tmpdir(), "relay-bench-node-"));
  const node = join(folder, "node");
  copyFileSync(process.execPath, node);
  chmodSync(node, 0o755);
  const stage = await Stage.open(destinations);
  try {
    const resting = await RelayProcess.start({ caPem: stage.caPem, node });
    await pause(restMs);
    const idle = memoryOf(resting.pid);
    await resting.stop();

    const subject = await stage.subject(stage.urls("/fast"), { node });
    await stage.warmUp(subject);
    const steady = async (ratePerSecond: number) => stage.open(
      subject, { connections, ratePerSecond, events: ratePerSecond * calmSeconds }, await stage.delivered(subject),
    );
    const taken: Round[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const calm = await steady(100);
      const busier = await steady(500);
      const [saturated, peak] = await peakDuring(subject.pid, stage.closed(
        subject, { connections, durationMs: saturatedMs, maxEvents }, await stage.delivered(subject),
      ));
      taken.push({ calm, busier, saturated, peak });
    }
    await pause(restMs);
    const idleAgain = memoryOf(subject.pid);
    const ledger = await stage.ledger("relay", subject);
    return {
      name: "footprint", figures: figuresOf({ idle, idleAgain, taken }), ledger, rounds: { idle, idleAgain, taken },
    };
  } finally {
    await stage.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

interface Taken {
  readonly idle: number;
  readonly idleAgain: number;
  readonly taken: readonly Round[];
}

function figuresOf({ idle, idleAgain, taken }: Taken): Figure[] {
  const peaks = taken.map(({ peak }) => peak);
  const costOf = (of: (round: Round) => Measured, floor: number, aim: number) => {
    const costs = taken.map(of).map((load) => ({ load, ms: total(load.cpu) / load.accepted }));
    const { load, ms } = costs.toSorted((a, b) => a.ms - b.ms)[0]!;
    return {
      bounds: { better: "lower", floor, aim, unit: "ms" } as const,
      measured: ms,
      note: `µs by thread: ${perItem(load.cpu, load.accepted)}; due to 202, p50: ${load.answerMs.p50.toFixed(1)} ms; ` +
        byRound(costs.map((cost) => cost.ms)),
    };
  };
  const saturated = costOf(({ saturated: load }) => load, 0.15, 0.1);
  const rate = Math.round(Math.max(...taken.map((round) => round.saturated.rate)));
  return [
    {
      id: "P19", what: "memory at rest",
      bounds: { better: "lower", floor: 180, aim: 100, unit: "MiB" }, measured: idle,
      note: `all its processes, ${restMs / 1000} s after the start, nothing stored; again at rest after the loads ` +
        `below: ${idleAgain.toFixed(0)} MiB`,
    },
    {
      id: "P19", what: `memory saturated, ${connections} connections`,
      bounds: { better: "lower", floor: 550, aim: 360, unit: "MiB" }, measured: Math.max(...peaks),
      note: `the largest of all looks, four a second; ${byRound(peaks)}`,
    },
    { id: "P20", what: "CPU per event, whole chain, at 100/s", ...costOf(({ calm }) => calm, 1.2, 0.6) },
    { id: "P20", what: "CPU per event, whole chain, at 500/s", ...costOf(({ busier }) => busier, 0.6, 0.3) },
    {
      id: "P21", what: "CPU per event, taken in and delivered at full speed", ...saturated,
      note: `up to ${rate}/s over ${destinations} destinations; ${saturated.note}`,
    },
  ];
}
