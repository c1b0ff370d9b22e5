import { setTimeout as pause } from "node:timers/promises";
import { openKafkaQueue, type KafkaQueue } from "../src/engines/kafka/kafka-queue.ts";
import { createLogger } from "../src/engines/pino/logger.ts";
import { SystemClock } from "../src/engines/system/system-clock.ts";
import { processRoles, readConfig, type KafkaConfig } from "../src/main/config/config.ts";
import { cpuOf, cpuSince, total } from "./support/cpu.ts";
import { startOutsideEngines, type Env, type OutsideEngines } from "./support/outside.ts";
import { RelayProcess } from "./support/relay.ts";
import { byRound, type Figure, type LedgerLine, type Report } from "./support/report.ts";
import { sized } from "./support/size.ts";
import { Stage, type Subject } from "./support/stage.ts";
import { median } from "./support/statistics.ts";

const destinations = 20;
const connections = 50;
/** SecantusDB scans all Pending events where MongoDB skips through an index, so few events wait at once. */
const events = sized(500, 30_000);
const rounds = sized(3, 5);
const partitions = 12;
const lagRate = 100;
const lagSeconds = sized(5, 30);
const sampleMs = 100;

/** A relay in one process or in several. */
interface Setup {
  readonly name: string;
  readonly subject: Subject;
  /** Its processes, by their task. */
  readonly processes: ReadonlyMap<string, { readonly pid: number }>;
}

interface Work {
  readonly rate: number;
  /** CPU of an event, microseconds, by process. */
  readonly cpu: Readonly<Record<string, number>>;
}

/** Messages that nobody took yet, a partition on average. */
interface Lags {
  readonly without: number;
  readonly with: number;
}

/** P15, and the same work on embedded engines, on outside engines, and with the roles in separate processes. */
export async function engines(): Promise<Report> {
  const outside = await startOutsideEngines(partitions);
  const stage = await Stage.open(destinations);
  const helpers: RelayProcess[] = [];
  try {
    const setups = [
      await whole("embedded", stage, {}),
      await whole("outside", stage, await outside.fresh()),
      await apart("apart", stage, stage.urls("/fast"), await outside.fresh(), helpers),
    ];
    const works = new Map<string, Work[]>(setups.map(({ name }) => [name, []]));
    for (let round = 0; round <= rounds; round += 1) {
      for (const setup of setups) {
        const work = await throughput(stage, setup);
        // The first round warms everything up and does not count.
        if (round > 0) works.get(setup.name)?.push(work);
      }
    }
    const ledger: LedgerLine[] = [];
    for (const { name, subject } of setups) ledger.push(...(await stage.ledger(name, subject)));
    const lags = await partitionLags(stage, outside, helpers);
    const figures = [...[...works].map(([name, taken]) => workFigure(name, taken)), lagFigure(lags, outside)];
    return { name: "engines", figures, ledger, rounds: { works: Object.fromEntries(works), lags } };
  } finally {
    await stage.close();
    await Promise.all(helpers.map((relay) => relay.stop()));
    await outside.stop();
  }
}

async function whole(name: string, stage: Stage, environment: Env): Promise<Setup> {
  const subject = await stage.subject(stage.urls("/fast"), { environment });
  return { name, subject, processes: new Map([["relay", subject]]) };
}

/** One process for each role. */
async function apart(
  name: string, stage: Stage, urls: readonly string[], env: Env, helpers: RelayProcess[], tenant: object = {},
): Promise<Setup> {
  const processes = new Map<string, { readonly pid: number }>();
  for (const role of processRoles.filter((other) => other !== "api")) {
    const helper = await RelayProcess.start({ caPem: stage.caPem, environment: { ...env, RELAY_ROLES: role } });
    helpers.push(helper);
    processes.set(role, helper);
  }
  const subject = await stage.subject(urls, { environment: { ...env, RELAY_ROLES: "api" }, tenant });
  processes.set("api", subject);
  return { name, subject, processes };
}

/** Takes events in as fast as they are answered; over when all are delivered and the lists say so. */
async function throughput(stage: Stage, { subject, processes }: Setup): Promise<Work> {
  const before = [...processes].map(([name, { pid }]) => ({ name, pid, cpu: cpuOf(pid) }));
  const start = performance.now();
  const load = { connections, durationMs: 60_000, maxEvents: events };
  const { accepted } = await stage.closed(subject, load, await stage.delivered(subject));
  const rate = (accepted / (performance.now() - start)) * 1000;
  const cpu = before.map(({ name, pid, cpu }) => [name, (total(cpuSince(pid, cpu)) / accepted) * 1000] as const);
  return { rate, cpu: Object.fromEntries(cpu) };
}

/** The mean lag of the partitions without the first destination, while that one answers, and while it is silent. */
async function partitionLags(
  stage: Stage, outside: OutsideEngines, helpers: RelayProcess[],
): Promise<readonly Lags[]> {
  const healthy = stage.urls("/fast");
  const tenant = { maxTrys: 10_000 };
  const sides = [];
  for (const urls of [healthy, [...stage.urls("/silent").slice(0, 1), ...healthy.slice(1)]]) {
    const env = await outside.fresh();
    const { subject } = await apart("lag", stage, urls, env, helpers, tenant);
    sides.push({ subject, queue: queueOf(env) });
  }
  const [without, withDead] = sides as [(typeof sides)[0], (typeof sides)[0]];
  const taken = [];
  for (let round = 0; round <= rounds; round += 1) {
    const lags = { without: await lagUnderLoad(stage, without), with: await lagUnderLoad(stage, withDead) };
    if (round > 0) taken.push(lags);
  }
  await Promise.all(sides.map(({ queue }) => queue.close()));
  return taken;
}

async function lagUnderLoad(
  stage: Stage, { subject, queue }: { readonly subject: Subject; readonly queue: KafkaQueue },
): Promise<number> {
  const samples: number[] = [];
  const loading = stage.open(subject, { connections, ratePerSecond: lagRate, events: lagRate * lagSeconds });
  for (const end = performance.now() + lagSeconds * 1000; performance.now() < end; await pause(sampleMs)) {
    const lags = Object.values(await queue.lag());
    samples.push(lags.reduce((sum, lag) => sum + lag, 0) / lags.length);
  }
  await loading;
  return samples.reduce((sum, sample) => sum + sample, 0) / samples.length;
}

function queueOf(env: Env): KafkaQueue {
  const config = readConfig(env).queue as KafkaConfig;
  const metrics = { anomaly: () => undefined };
  return openKafkaQueue({ config, password: null, clock: new SystemClock(), logger: createLogger("silent"), metrics });
}

function workFigure(name: string, taken: readonly Work[]): Figure {
  const best = taken.toSorted((a, b) => b.rate - a.rate)[0]!;
  const cpu = Object.entries(best.cpu).map(([process, us]) => `${process} ${us.toFixed(0)}`).join(", ");
  return {
    id: "", what: `events/s from the request to the recorded delivery, ${name}`, measured: best.rate,
    note: `CPU of an event in µs: ${cpu}; ${byRound(taken.map(({ rate }) => rate))}`,
  };
}

function lagFigure(taken: readonly Lags[], outside: OutsideEngines): Figure {
  const [without, withDead] = [median(taken.map((one) => one.without)), median(taken.map((one) => one.with))];
  return {
    id: "P15", what: "Kafka: lag of the partitions with one dead destination ÷ without",
    bounds: { better: "lower", floor: 1.5, aim: 1.1 }, measured: withDead / without,
    note: `${withDead.toFixed(2)} ÷ ${without.toFixed(2)} messages a partition at ${lagRate}/s over ${destinations} ` +
      `destinations, the dead one's partition included; ${outside.description}`,
  };
}
