import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { fillBacklog, gatedSubject, type Drained } from "./support/backlog.ts";
import { machineNow } from "./support/clock.ts";
import { readProfiles, type FunctionTime } from "./support/cpu-profile.ts";
import { perItem } from "./support/cpu.ts";
import { Stage, type Subject } from "./support/stage.ts";

const connections = 100;
/** More than a load can send. */
const maxEvents = 1_000_000;
const functionsShown = Number(process.env["TOP"] ?? "25");
/** Microseconds between two samples. */
const sampleEvery = 250;

/** Starts a relay and readies a load for it; what that answers is run twice and profiled the second time. */
type Scenario = (stage: Stage, nodeOptions: readonly string[]) => Promise<{
  readonly subject: Subject;
  readonly prepare: () => Promise<() => Promise<Drained>>;
}>;

/** The whole chain to destinations that answer at once, under one load or another. */
function chain(load: (stage: Stage, subject: Subject) => Promise<Drained>): Scenario {
  return async (stage, nodeOptions) => {
    const subject = await stage.subject(stage.urls("/fast"), { nodeOptions });
    return { subject, prepare: async () => () => load(stage, subject) };
  };
}

const scenarios: Readonly<Record<string, Scenario>> = {
  /** Taking in alone, deliveries held at a closed gate. */
  ingest: async (stage, nodeOptions) => {
    const subject = await gatedSubject(stage, 1, nodeOptions);
    const load = { connections, durationMs: 5_000, maxEvents };
    const run = () => stage.closed(subject, load, () => subject.account.standing());
    return { subject, prepare: async () => run };
  },
  /** Delivering alone: a backlog that drains. */
  drain: async (stage, nodeOptions) => {
    const subject = await gatedSubject(stage, 10, nodeOptions);
    return { subject, prepare: () => fillBacklog(stage, subject, 20_000) };
  },
  /** The whole chain at 1,000 a second. */
  chain: chain(async (stage, subject) =>
    stage.open(subject, { connections, ratePerSecond: 1_000, events: 8_000 }, await stage.delivered(subject))),
  /** The whole chain as fast as events come in. */
  full: chain(async (stage, subject) =>
    stage.closed(subject, { connections, durationMs: 3_000, maxEvents }, await stage.delivered(subject))),
};

/** Puts a load (`SCENARIO`, one of the above) on a relay that profiles itself; prints where its time went. */
export async function profile(): Promise<void> {
  const name = process.env["SCENARIO"] ?? "chain";
  const scenario = scenarios[name];
  if (!scenario) throw new Error(`SCENARIO: ${name} is none of ${Object.keys(scenarios).join(", ")}`);
  const folder = join(import.meta.dirname, "results", `profile-${name}-${Date.now()}`);
  mkdirSync(folder, { recursive: true });
  const stage = await Stage.open(20);
  try {
    await stage.receiver.call("gate", false);
    const nodeOptions = ["--cpu-prof", `--cpu-prof-dir=${folder}`, `--cpu-prof-interval=${sampleEvery}`];
    const { subject, prepare } = await scenario(stage, nodeOptions);
    await (await prepare())();
    const run = await prepare();
    const from = machineNow();
    const measured = await run();
    const to = machineNow();
    await stage.receiver.call("gate", true);
    await subject.relay.stop();
    print(name, measured, folder, from, to);
  } finally {
    await stage.close();
  }
}

function print(name: string, { accepted, rate, cpu }: Drained, folder: string, from: number, to: number): void {
  console.log(`\n${name}: ${accepted} events, ${Math.round(rate)}/s; raw profiles in ${folder}`);
  console.log(`µs of CPU for each event: ${perItem(cpu, accepted)}`);
  for (const { thread, busyMs, idleMs, functions, ours } of readProfiles(folder, from, to)) {
    const each = (ms: number) => `${((ms / accepted) * 1000).toFixed(1).padStart(6)} µs`;
    const share = (ms: number) => `${((ms / busyMs) * 100).toFixed(1).padStart(4)} %`;
    const list = (title: string, times: readonly FunctionTime[]) => {
      console.log(`  ${title}:`);
      for (const { where, ms } of times.slice(0, functionsShown)) console.log(`  ${each(ms)}  ${share(ms)}  ${where}`);
    };
    const busy = ((busyMs / (busyMs + idleMs)) * 100).toFixed(0);
    console.log(`\n${thread}: not idle ${busy} %, ${each(busyMs).trim()} an event`);
    list("self time", functions);
    list("our functions with what they call outside the project", ours);
  }
}
