import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { fillBacklog, gatedSubject, type Drained } from "./support/backlog.ts";
import type { FunctionShare, ThreadShares } from "./support/call-frames.ts";
import { machineNow } from "./support/clock.ts";
import { perItem } from "./support/cpu.ts";
import { readCpuProfiles } from "./support/cpu-profile.ts";
import { readHeapProfiles } from "./support/heap-profile.ts";
import type { RelayOptions } from "./support/relay.ts";
import { resultsFolder } from "./support/report.ts";
import { Stage, type Subject } from "./support/stage.ts";

const connections = 100;
/** More than a load can send. */
const maxEvents = 1_000_000;
const functionsShown = Number(process.env["TOP"] ?? "25");
/** Microseconds between two samples. */
const sampleEvery = 250;

/** Options with which a relay profiles itself. */
type Profiler = Pick<RelayOptions, "nodeOptions" | "environment">;

/** Starts a relay and readies a load for it; the returned load runs twice. */
type Scenario = (stage: Stage, profiler: Profiler) => Promise<{
  readonly subject: Subject;
  readonly prepare: () => Promise<() => Promise<Drained>>;
}>;

/** The whole chain to destinations that answer at once, under one load or another. */
function chain(load: (stage: Stage, subject: Subject) => Promise<Drained>): Scenario {
  return async (stage, profiler) => {
    const subject = await stage.subject(stage.urls("/fast"), profiler);
    return { subject, prepare: async () => () => load(stage, subject) };
  };
}

const scenarios: Readonly<Record<string, Scenario>> = {
  /** Taking in alone, deliveries held at a closed gate. */
  ingest: async (stage, profiler) => {
    const subject = await gatedSubject(stage, 1, profiler);
    const load = { connections, durationMs: 5_000, maxEvents };
    const run = () => stage.closed(subject, load, () => subject.account.standing());
    return { subject, prepare: async () => run };
  },
  /** Delivering alone: a backlog that drains. */
  drain: async (stage, profiler) => {
    const subject = await gatedSubject(stage, 10, profiler);
    return { subject, prepare: () => fillBacklog(stage, subject, 20_000) };
  },
  /** The whole chain at 1,000 a second. */
  chain: chain(async (stage, subject) =>
    stage.open(subject, { connections, ratePerSecond: 1_000, events: 8_000 }, await stage.delivered(subject))),
  /** The whole chain as fast as events come in. */
  full: chain(async (stage, subject) =>
    stage.closed(subject, { connections, durationMs: 3_000, maxEvents }, await stage.delivered(subject))),
};

/**
 * Puts a load (`SCENARIO`, one of the above) on a relay that profiles itself; prints where its time went or, with
 * `HEAP=1`, its allocations.
 */
export async function profile(): Promise<void> {
  const name = process.env["SCENARIO"] ?? "chain";
  const scenario = scenarios[name];
  if (!scenario) throw new Error(`SCENARIO: ${name} is none of ${Object.keys(scenarios).join(", ")}`);
  const heap = process.env["HEAP"] === "1";
  const folder = join(resultsFolder, `${heap ? "heap" : "profile"}-${name}-${Date.now()}`);
  mkdirSync(folder, { recursive: true });
  const stage = await Stage.open(20);
  try {
    await stage.receiver.call("gate", false);
    const { subject, prepare } = await scenario(stage, heap ? heapProfiler(folder) : cpuProfiler(folder));
    const warmUp = await (await prepare())();
    const run = await prepare();
    const from = machineNow();
    const measured = await run();
    const to = machineNow();
    await stage.receiver.call("gate", true);
    await subject.relay.stop();
    console.log(`\n${name}: ${measured.accepted} events, ${Math.round(measured.rate)}/s; raw profiles in ${folder}`);
    if (heap) printHeap(folder, warmUp.accepted + measured.accepted);
    else printTimes(folder, measured, from, to);
  } finally {
    await stage.close();
  }
}

function cpuProfiler(folder: string): Profiler {
  return { nodeOptions: ["--cpu-prof", `--cpu-prof-dir=${folder}`, `--cpu-prof-interval=${sampleEvery}`] };
}

function heapProfiler(folder: string): Profiler {
  const sampler = join(import.meta.dirname, "support", "heap-sampler.ts");
  return { nodeOptions: ["--import", sampler], environment: { HEAP_PROFILE_FOLDER: folder } };
}

function printTimes(folder: string, { accepted, cpu }: Drained, from: number, to: number): void {
  console.log(`µs of CPU for each event: ${perItem(cpu, accepted)}`);
  for (const times of readCpuProfiles(folder, from, to)) {
    const busy = ((times.total / (times.total + times.idleMs)) * 100).toFixed(0);
    printShares(times, `not idle ${busy} %, `, (ms) => `${((ms / accepted) * 1000).toFixed(1).padStart(6)} µs`);
  }
}

/** Of the whole life of the relay, so that its start counts, too. */
function printHeap(folder: string, events: number): void {
  for (const shares of readHeapProfiles(folder)) {
    printShares(shares, "", (bytes) => `${(bytes / events).toFixed(0).padStart(6)} B`);
  }
}

function printShares({ thread, total, functions, ours }: ThreadShares, say: string, each: (amount: number) => string) {
  const share = (amount: number) => `${((amount / total) * 100).toFixed(1).padStart(4)} %`;
  const list = (title: string, shares: readonly FunctionShare[]) => {
    console.log(`  ${title}:`);
    for (const { where, amount } of shares.slice(0, functionsShown)) {
      console.log(`  ${each(amount)}  ${share(amount)}  ${where}`);
    }
  };
  console.log(`\n${thread}: ${say}${each(total).trim()} an event`);
  list("by themselves", functions);
  list("our functions with what they call outside the project", ours);
}
