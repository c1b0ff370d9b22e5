import type { CommitResult, CommitsApi } from "./processes/commits.ts";
import { startProcess } from "./support/child.ts";
import { perItem, total } from "./support/cpu.ts";
import { byRound, type Figure, type Report } from "./support/report.ts";
import { rounds, sized } from "./support/size.ts";
import { Stage, type Measured } from "./support/stage.ts";

const connections = 100;
const fewConnections = 10;
const bareMs = sized(2_000, 10_000);
const relayMs = sized(3_000, 20_000);
const flowingMs = sized(1_500, 10_000);
/** More than a load can send. */
const maxEvents = 1_000_000;
const storeMs = sized(1_000, 5_000);

interface Round {
  readonly bare: Measured;
  readonly least: Measured;
  readonly held: Measured;
  readonly flowing: Measured;
  readonly bareFew: Measured;
  readonly few: Measured;
  readonly grouped: CommitResult;
  readonly ungrouped: CommitResult;
}

/** P1, P2, P3: the cost of ingest. */
export async function ingest(): Promise<Report> {
  const stage = await Stage.open(20);
  const store = startProcess<CommitsApi>("commits.ts");
  try {
    const bare = await stage.bareServer();
    const least = await stage.bareServer({ keeping: true });
    await stage.receiver.call("gate", false);
    // Accepted, forwarded and projected like any event; the one attempt under way hangs at a closed gate.
    const held = await stage.subject(stage.urls("/gate").slice(0, 1), {
      destination: { serverRateLimit: 1 }, environment: { RELAY_DELIVERY_TIMEOUT: "1h" },
    });
    const flowing = await stage.subject(stage.urls("/fast"));
    const projected = () => held.account.standing();
    const taken: Round[] = [];
    for (let round = 0; round <= rounds; round += 1) {
      // The first round warms everything up and does not count.
      const delivered = await stage.delivered(flowing);
      const one: Round = {
        bare: await stage.closed(bare, { connections, durationMs: bareMs, maxEvents }),
        least: await stage.closed(least, { connections, durationMs: relayMs, maxEvents }, least.settled),
        held: await stage.closed(held, { connections, durationMs: relayMs, maxEvents }, projected),
        flowing: await stage.closed(flowing, { connections, durationMs: flowingMs, maxEvents }, delivered),
        bareFew: await stage.closed(bare, { connections: fewConnections, durationMs: bareMs, maxEvents }),
        few: await stage.closed(held, { connections: fewConnections, durationMs: relayMs, maxEvents }, projected),
        grouped: await store.call("run", { grouped: true, concurrency: connections, durationMs: storeMs }),
        ungrouped: await store.call("run", { grouped: false, concurrency: connections, durationMs: storeMs }),
      };
      if (round > 0) taken.push(one);
    }
    const ledger = [...await stage.ledger("held", held), ...await stage.ledger("flowing", flowing)];
    return { name: "ingest", figures: figuresOf(taken), ledger, rounds: taken };
  } finally {
    await stage.close();
    await store.stop();
  }
}

function figuresOf(taken: readonly Round[]): Figure[] {
  const best = (of: (round: Round) => number) => Math.max(...taken.map(of));
  const cpu = (of: (round: Round) => Measured) => {
    const loads = taken.map(of).map((load) => ({ load, us: (total(load.cpu) / load.accepted) * 1000 }));
    return loads.sort((a, b) => a.us - b.us)[0]!;
  };
  const each = ({ cpu, accepted }: Measured) => total(cpu) / accepted;
  const bareRate = best(({ bare }) => bare.rate);
  const heldRate = best(({ held }) => held.rate);
  const flowingRate = best(({ flowing }) => flowing.rate);
  const bareFewRate = best(({ bareFew }) => bareFew.rate);
  const fewRate = best(({ few }) => few.rate);
  const bareCpu = cpu(({ bare }) => bare);
  const leastCpu = cpu(({ least }) => least);
  const leastRate = best(({ least }) => least.rate);
  const heldCpu = cpu(({ held }) => held);
  const flowingCpu = cpu(({ flowing }) => flowing);
  const groupedRate = best(({ grouped }) => grouped.rate);
  const ungroupedRate = best(({ ungrouped }) => ungrouped.rate);
  const inCommit = (of: (round: Round) => CommitResult) => Math.round(best((round) => of(round).appendsPerCommit));
  const perSecond = (rate: number) => `${Math.round(rate)}/s`;
  return [
    {
      id: "P1", what: "ingest requests/s ÷ the least program",
      bounds: { better: "higher", floor: 1, aim: 1.2 }, measured: heldRate / leastRate,
      note: `${perSecond(heldRate)} ÷ ${perSecond(leastRate)}; in the same process, all roles; deliveries held; ` +
        byRound(taken.map(({ held, least }) => held.rate / least.rate)),
    },
    {
      id: "P2", what: "ingest CPU per request ÷ the least program",
      bounds: { better: "lower", floor: 1, aim: 0.85 }, measured: heldCpu.us / leastCpu.us,
      note: `${heldCpu.us.toFixed(1)} µs (${perItem(heldCpu.load.cpu, heldCpu.load.accepted)}) ÷ ` +
        `${leastCpu.us.toFixed(1)} µs (${perItem(leastCpu.load.cpu, leastCpu.load.accepted)}); until the lists cover ` +
        `it all; ${byRound(taken.map(({ held, least }) => each(held) / each(least)))}`,
    },
    {
      id: "P1=", what: "ingest requests/s ÷ bare node:http",
      measured: heldRate / bareRate,
      note: `${perSecond(heldRate)} ÷ ${perSecond(bareRate)}; the least program: ${(leastRate / bareRate).toFixed(2)}`,
    },
    {
      id: "P2=", what: "ingest CPU per request ÷ bare node:http",
      measured: heldCpu.us / bareCpu.us,
      note: `÷ ${bareCpu.us.toFixed(1)} µs; the least program: ${(leastCpu.us / bareCpu.us).toFixed(2)}`,
    },
    {
      id: "P1+", what: "P1= while its events are delivered",
      measured: flowingRate / bareRate, note: `${perSecond(flowingRate)} to 20 destinations that answer at once`,
    },
    {
      id: "P1-", what: `P1= over ${fewConnections} connections`,
      measured: fewRate / bareFewRate, note: `${perSecond(fewRate)} ÷ ${perSecond(bareFewRate)}; deliveries held`,
    },
    {
      id: "P2+", what: "CPU per event from request to recorded delivery ÷ bare",
      measured: flowingCpu.us / bareCpu.us,
      note: `${flowingCpu.us.toFixed(1)} µs (${perItem(flowingCpu.load.cpu, flowingCpu.load.accepted)})`,
    },
    {
      id: "P3", what: "group commit ÷ one commit per request",
      bounds: { better: "higher", floor: 7, aim: 12 }, measured: groupedRate / ungroupedRate,
      note: `the event store alone, ${connections} producers: ${perSecond(groupedRate)} with up to ` +
        `${inCommit(({ grouped }) => grouped)} appends a commit ÷ ${perSecond(ungroupedRate)} with ` +
        `${inCommit(({ ungrouped }) => ungrouped)}`,
    },
  ];
}
