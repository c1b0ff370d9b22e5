import { rmSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { timestamp } from "../src/kernel/domain/time.ts";
import { text, type ApiClient } from "../test/support/api-client.ts";
import { copyOf, dataSet, type DataSet } from "./data/data-set.ts";
import { acceptedMs } from "./data/recipe.ts";
import { memoryOf } from "./support/memory.ts";
import { totalOf } from "./support/relay.ts";
import { byRound, listed, type Figure, type LedgerLine, type Report } from "./support/report.ts";
import { rounds, sized } from "./support/size.ts";
import { Stage, type Subject } from "./support/stage.ts";
import { median, type Percentiles } from "./support/statistics.ts";

/** Stored events of all tenants. */
const events = Number(process.env["EVENTS"] ?? sized(100_000, 1_000_000));
const liveDestinations = 20;
const connections = 200;
const livePerSecond = 500;
/** The rate that a replay has when none is ordered, and the highest. */
const usual = 50;
const highest = 1_000;
/** The part of a replay's shortest time that the live load beside it takes: the replay outlasts it. */
const loadedShare = 0.9;
const replayTimeoutMs = 600_000;
const finished = ["Succeeded", "CriticalFailure", "Cancelled"];

/** The live load of a tenant without a replay, or beside one. */
interface Side {
  readonly latency: Percentiles;
  /** Of the relay, when the load is over, MiB. */
  readonly memory: number;
}

/** The live load beside a replay, and the replay once it is over. */
interface Beside extends Side {
  readonly matched: number;
  readonly done: number;
  /** From the order to the end, events a second. */
  readonly rate: number;
  /** Whether it was still running when the load was over. */
  readonly outlasted: boolean;
}

interface Round {
  readonly without: Side;
  readonly usual: Beside;
  readonly highest: Beside;
}

/** A part of the set, by shares of its time. */
interface Part {
  readonly from: number;
  readonly to: number;
}

/** A relay with stored events, the tenant whose events are sent to another destination, and one with a live load. */
interface Scene {
  readonly stage: Stage;
  readonly set: DataSet;
  readonly live: Subject;
  readonly owner: ApiClient;
  readonly targetId: string;
  /** Duration of the live load. */
  readonly seconds: number;
}

/** The cost of a replay to another destination for the live events of another tenant. */
export async function replay(): Promise<Report> {
  const set = await dataSet(events);
  const dataDir = await copyOf(set);
  // Stored events have the numbers below: the receiver tells them apart from live ones.
  const stage = await Stage.open(1 + liveDestinations, set.events);
  try {
    const [target, ...others] = stage.urls("/fast");
    const live = await stage.subject(others, { dataDir, environment: { RELAY_ACCESS_TOKEN_TTL: "1d" } });
    const { owner } = await live.relay.openAccount(set.tenants[0]!);
    const targetId = text(await owner.post("/api/v1/destinations", { url: target, serverRateLimit: 100 }), "id");
    const stored = await totalOf(owner, `&Status=${finished.join(",")}`);
    const seconds = (loadedShare * stored) / (rounds + 1) / (usual + highest);
    const scene: Scene = { stage, set, live, owner, targetId, seconds };
    const taken: Round[] = [];
    for (let round = 0; round <= rounds; round += 1) taken.push(await measure(scene, round));
    const ledger = [...await ledgerOf(scene, stored, taken), ...await stage.ledger("live", live)];
    // The first round warms everything up and does not count.
    return { name: "replay", figures: figuresOf(taken.slice(1), seconds), ledger, rounds: taken };
  } finally {
    await stage.close();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

/** One round's part of the set is replayed, at either rate as much of it as takes the same time. */
async function measure(scene: Scene, round: number): Promise<Round> {
  const [from, to] = [round / (rounds + 1), (round + 1) / (rounds + 1)];
  const between = from + ((to - from) * usual) / (usual + highest);
  return {
    without: await sideOf(scene),
    usual: await besideReplay(scene, usual, { from, to: between }),
    highest: await besideReplay(scene, highest, { from: between, to }),
  };
}

async function besideReplay(scene: Scene, perSecond: number, part: Part): Promise<Beside> {
  const { owner, set, targetId } = scene;
  const at = (share: number) => acceptedMs(share * set.events, set.events);
  const id = text(await owner.post("/api/v1/replays", {
    status: finished, toDestinationUrlId: targetId, perSecond,
    from: timestamp(at(part.from)), to: timestamp(at(part.to) - 1),
  }), "id");
  const ask = () => owner.get(`/api/v1/replays/${id}`);
  const side = await sideOf(scene);
  const outlasted = (await ask())["state"] === "Running";
  const { matched, done, startedAt, finishedAt } = await eventually(ask, ({ state }) => state !== "Running");
  const waiting = `&DestinationUrlId=${targetId}&Status=Pending,Processing`;
  await eventually(() => totalOf(owner, waiting), (count) => count === 0);
  const seconds = (Date.parse(String(finishedAt)) - Date.parse(String(startedAt))) / 1000;
  return { ...side, outlasted, matched: Number(matched), done: Number(done), rate: Number(done) / seconds };
}

async function sideOf({ stage, live, seconds }: Scene): Promise<Side> {
  const load = { connections, ratePerSecond: livePerSecond, events: Math.round(livePerSecond * seconds) };
  let memory = NaN;
  const measured = await stage.open(live, load, async () => {
    memory = memoryOf(live.pid);
    await live.account.untilIdle();
  });
  const { latency } = await stage.arrivals(measured);
  return { latency, memory };
}

async function eventually<Answer>(ask: () => Promise<Answer>, isIt: (answer: Answer) => boolean): Promise<Answer> {
  for (const until = performance.now() + replayTimeoutMs; performance.now() < until; await pause(100)) {
    const answer = await ask();
    if (isIt(answer)) return answer;
  }
  throw new Error(`the replay is not over after ${replayTimeoutMs} ms`);
}

/** Whether each stored event that was finished has one new event, which was delivered once. */
async function ledgerOf(
  { stage, owner, targetId, set }: Scene, stored: number, taken: readonly Round[],
): Promise<LedgerLine[]> {
  const replays = taken.flatMap((round) => [round.usual, round.highest]);
  const sum = (of: (replay: Beside) => number) => replays.reduce((all, replay) => all + of(replay), 0);
  const matched = sum((one) => one.matched);
  const outlasted = sum((one) => Number(one.outlasted));
  const { delivered, repeated } = await stage.arrivals({ firstSeq: 0, sent: set.events });
  return [
    { what: "replays = replays that outlasted their load", left: replays.length, right: outlasted },
    { what: "finished events = matched", left: stored, right: matched },
    { what: "matched = put to work", left: matched, right: sum(({ done }) => done) },
    {
      what: "matched = new events that the relay lists as delivered",
      left: matched, right: await totalOf(owner, `&DestinationUrlId=${targetId}&Status=Succeeded`),
    },
    { what: "matched = source events whose payload arrived", left: matched, right: delivered },
    { what: "payloads that arrived again", left: repeated, right: 0 },
  ];
}

function figuresOf(taken: readonly Round[], seconds: number): Figure[] {
  const of = (side: keyof Round, value: (side: Side) => number) => taken.map((round) => value(round[side]));
  const p99 = (side: keyof Round) => of(side, ({ latency }) => latency.p99);
  const ratios = (side: "usual" | "highest") =>
    taken.map((round) => round[side].latency.p99 / round.without.latency.p99);
  const latency = (side: "usual" | "highest") => ({
    measured: median(ratios(side)),
    note: `p99 in ms by round, without: ${listed(p99("without"), 1)}; with: ${listed(p99(side), 1)}; ` +
      `rounds of ${seconds.toFixed(1)} s, the median of their ratios; ${byRound(ratios(side))}`,
  });
  const rates = taken.map((round) => round.highest.rate);
  const memory = (side: keyof Round) => of(side, (one) => one.memory);
  return [
    {
      id: "R1", what: `live p99 at ${livePerSecond}/s, beside a replay of ${usual}/s ÷ without`,
      bounds: { better: "lower", floor: 1.2, aim: 1.1 }, ...latency("usual"),
    },
    { id: "R1+", what: `the same beside a replay of ${highest}/s ÷ without`, ...latency("highest") },
    { id: "R2", what: "events/s of that replay", measured: median(rates), note: `by round: ${listed(rates)}` },
    {
      id: "R3", what: "memory of the relay, beside that replay ÷ without",
      measured: median(memory("highest")) / median(memory("without")),
      note: `MiB by round, without: ${listed(memory("without"))}; with: ${listed(memory("highest"))}`,
    },
  ];
}
