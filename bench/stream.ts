import { setTimeout as pause } from "node:timers/promises";
import { text } from "../test/support/api-client.ts";
import type { Followed, FollowersApi } from "./processes/followers.ts";
import { startProcess } from "./support/child.ts";
import { memoryOf } from "./support/memory.ts";
import { listed, type Figure, type Report } from "./support/report.ts";
import { rounds, sized } from "./support/size.ts";
import { Stage, type Measured, type Subject } from "./support/stage.ts";
import { median } from "./support/statistics.ts";

const tenants = 10;
const usersOfTenant = 20;
const streamsOfUser = 5;
const clients = tenants * usersOfTenant * streamsOfUser;
const connections = 100;
const closedMs = sized(3_000, 20_000);
const openSeconds = sized(5, 30);
const ratePerSecond = 500;

interface Round {
  readonly without: Measured;
  readonly with: Measured;
  readonly memoryMiB: number;
  readonly followed: Followed;
}

/** The cost of a thousand live clients to ingest and to memory, and the delay until they hear of an entry. */
export async function stream(): Promise<Report> {
  const stage = await Stage.open(10);
  const followers = startProcess<FollowersApi>("followers.ts");
  try {
    const subject = await stage.subject(stage.urls("/fast"));
    const tokens = await tokensOf(subject);
    const { relay: { url, pid } } = subject;
    const taken: Round[] = [];
    for (let round = 0; round <= rounds; round += 1) {
      const load = { connections, durationMs: closedMs, maxEvents: 1_000_000 };
      const without = await stage.closed(subject, load, await stage.delivered(subject));
      await pause(1_000);
      const before = memoryOf(pid);
      await followers.call("follow", { url, tokens });
      await pause(1_000);
      const memoryMiB = memoryOf(pid) - before;
      const withClients = await stage.closed(subject, load, await stage.delivered(subject));
      await followers.call("followed", null);
      const events = ratePerSecond * openSeconds;
      await stage.open(subject, { connections, ratePerSecond, events }, await stage.delivered(subject));
      await pause(500);
      const followed = await followers.call("followed", null);
      await followers.call("leave", null);
      await pause(1_000);
      if (round > 0) taken.push({ without, with: withClients, memoryMiB, followed });
    }
    return { name: "stream", figures: figuresOf(taken), ledger: await stage.ledger("relay", subject), rounds: taken };
  } finally {
    await followers.stop();
    await stage.close();
  }
}

/** Tokens for as many clients as a process takes: of the loaded tenant, and of nine to which nothing happens. */
async function tokensOf({ relay, account }: Subject): Promise<readonly string[]> {
  const owners = [account.owner];
  while (owners.length < tenants) owners.push((await relay.openAccount(await relay.createTenant([]))).owner);
  const tokens: string[] = [];
  for (const owner of owners) {
    for (let user = 0; user < usersOfTenant; user += 1) {
      const login = { email: `${crypto.randomUUID()}@bench.example`, password: "correct horse battery" };
      await owner.post("/api/v1/users", { ...login, role: 20 });
      const token = text(await owner.post("/api/v1/auth/login", login), "accessToken");
      tokens.push(...Array<string>(streamsOfUser).fill(token));
    }
  }
  return tokens;
}

function figuresOf(taken: readonly Round[]): Figure[] {
  const rates = (of: (round: Round) => Measured) => taken.map((round) => of(round).rate);
  const [without, withClients] = [rates((round) => round.without), rates((round) => round.with)];
  const delays = taken.map(({ followed }) => followed.p95Ms);
  const memory = taken.map(({ memoryMiB }) => memoryMiB);
  return [
    {
      id: "S1", what: `ingest with ${clients} live clients ÷ without`,
      bounds: { better: "higher", floor: 0.95, aim: 1 }, measured: median(withClients) / median(without),
      note: `events a second by round, without: ${listed(without)}; with: ${listed(withClients)}; medians compared`,
    },
    {
      id: "S2", what: `memory of ${clients} live clients`,
      bounds: { better: "lower", floor: 60, aim: 30, unit: "MiB" }, measured: Math.max(...memory),
      note: `by round: ${listed(memory, 1)}`,
    },
    {
      id: "S3", what: `log entry to client at ${ratePerSecond}/s, p95`,
      bounds: { better: "lower", floor: 200, aim: 100, unit: "ms" }, measured: median(delays),
      note: `by round: ${listed(delays)}; ${listed(taken.map(({ followed }) => followed.frames))} frames`,
    },
  ];
}
