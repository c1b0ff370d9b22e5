import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { machineNow } from "./support/clock.ts";
import { readProfiles, type FunctionTime } from "./support/cpu-profile.ts";
import { perItem } from "./support/cpu.ts";
import { Stage, type Measured, type Subject } from "./support/stage.ts";

const connections = 100;
/** More than a load can send. */
const maxEvents = 1_000_000;
const functionsShown = Number(process.env["TOP"] ?? "25");
/** Microseconds between two samples. */
const sampleEvery = 250;

interface Scenario {
  readonly path: string;
  readonly destinations: number;
  readonly limit: number;
  readonly run: (stage: Stage, subject: Subject) => Promise<Measured>;
}

const scenarios: Readonly<Record<string, Scenario>> = {
  /** Taking in alone, deliveries held at a closed gate. */
  ingest: {
    path: "/gate", destinations: 1, limit: 1,
    run: (stage, subject) =>
      stage.closed(subject, { connections, durationMs: 5_000, maxEvents }, () => subject.account.standing()),
  },
  /** The whole chain at 1,000 a second. */
  chain: {
    path: "/fast", destinations: 20, limit: 5,
    run: async (stage, subject) =>
      stage.open(subject, { connections, ratePerSecond: 1_000, events: 8_000 }, await stage.delivered(subject)),
  },
  /** The whole chain as fast as events come in. */
  full: {
    path: "/fast", destinations: 20, limit: 5,
    run: async (stage, subject) =>
      stage.closed(subject, { connections, durationMs: 3_000, maxEvents }, await stage.delivered(subject)),
  },
};

/** Puts a load (`SCENARIO=ingest`, `chain` or `full`) on a relay that profiles itself; prints where its time went. */
export async function profile(): Promise<void> {
  const name = process.env["SCENARIO"] ?? "chain";
  const scenario = scenarios[name];
  if (!scenario) throw new Error(`SCENARIO: ${name} is none of ${Object.keys(scenarios).join(", ")}`);
  const { path, destinations, limit, run } = scenario;
  const folder = join(import.meta.dirname, "results", `profile-${name}-${Date.now()}`);
  mkdirSync(folder, { recursive: true });
  const stage = await Stage.open(destinations);
  try {
    await stage.receiver.call("gate", path !== "/gate");
    const subject = await stage.subject(stage.urls(path), {
      destination: { serverRateLimit: limit },
      nodeOptions: ["--cpu-prof", `--cpu-prof-dir=${folder}`, `--cpu-prof-interval=${sampleEvery}`],
    });
    await run(stage, subject);
    const from = machineNow();
    const measured = await run(stage, subject);
    const to = machineNow();
    await stage.receiver.call("gate", true);
    await subject.relay.stop();
    print(name, measured, folder, from, to);
  } finally {
    await stage.close();
  }
}

function print(name: string, { accepted, rate, cpu }: Measured, folder: string, from: number, to: number): void {
  console.log(`\n${name}: ${accepted} events, accepted at ${Math.round(rate)}/s; raw profiles in ${folder}`);
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
