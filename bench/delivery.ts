import { drainLimit, fillBacklog, gatedSubject, type Drained } from "./support/backlog.ts";
import { perItem, total, type CpuTime } from "./support/cpu.ts";
import { byRound, type Figure, type Report } from "./support/report.ts";
import { rounds, sized } from "./support/size.ts";
import { Stage, type Measured, type RawMeasured } from "./support/stage.ts";

const connections = 100;
const drainedDestinations = 10;
const backlog = sized(12_000, 100_000);
const rawEvents = sized(20_000, 200_000);
const steadyDestinations = 20;
const ratePerSecond = 1_000;
const steadyLoad = { connections, ratePerSecond, events: ratePerSecond * sized(4, 60) };

interface Work {
  readonly items: number;
  readonly cpu: CpuTime;
  readonly rate: number;
}

interface Round {
  readonly raw: Work;
  readonly least: Work;
  readonly drain: Work;
  readonly bareSteady: Work;
  readonly rawSteady: Work;
  readonly bareSaturated: Work;
  readonly steady: Work;
}

/** P5, P6, P16: the cost of delivery. */
export async function delivery(): Promise<Report> {
  const stage = await Stage.open(steadyDestinations);
  try {
    const bare = await stage.bareServer();
    const raw = await stage.rawClient(drainedDestinations * drainLimit);
    const least = await stage.rawClient(drainedDestinations * drainLimit, { keeping: true });
    const draining = await gatedSubject(stage, drainedDestinations);
    const chain = await stage.subject(stage.urls("/fast"));
    await stage.warmUp(chain);
    const taken: Round[] = [];
    for (let round = 0; round <= rounds; round += 1) {
      // The first round warms everything up and does not count.
      const drain = await fillBacklog(stage, draining, backlog);
      const one: Round = {
        raw: workOf(await stage.raw(raw, { events: rawEvents, concurrency: drainedDestinations * drainLimit })),
        least: workOf(await stage.raw(least, { events: rawEvents, concurrency: drainedDestinations * drainLimit })),
        drain: workOf(await drain()),
        bareSaturated: workOf(await stage.closed(bare, { connections, durationMs: 60_000, maxEvents: rawEvents })),
        bareSteady: workOf(await stage.open(bare, steadyLoad)),
        rawSteady: workOf(await stage.raw(raw, steadyLoad)),
        steady: workOf(await stage.open(chain, steadyLoad, await stage.delivered(chain))),
      };
      if (round > 0) taken.push(one);
    }
    const ledger = [
      ...await stage.ledger("drained", draining), ...await stage.ledger("steady", chain), ...await stage.rawLedger(),
    ];
    return { name: "delivery", figures: figuresOf(taken), ledger, rounds: taken };
  } finally {
    await stage.close();
  }
}

function workOf({ accepted: items, cpu, rate }: Drained | Measured | RawMeasured): Work {
  return { items, cpu, rate };
}

function figuresOf(taken: readonly Round[]): Figure[] {
  const cheapest = (of: (round: Round) => Work) => {
    const works = taken.map(of).map((work) => ({ ...work, us: (total(work.cpu) / work.items) * 1000 }));
    return works.sort((a, b) => a.us - b.us)[0]!;
  };
  const raw = cheapest((round) => round.raw);
  const least = cheapest((round) => round.least);
  const backlogged = cheapest((round) => round.drain);
  const bareSteady = cheapest((round) => round.bareSteady);
  const rawSteady = cheapest((round) => round.rawSteady);
  const chain = cheapest((round) => round.steady);
  const saturated = cheapest((round) => round.bareSaturated).us + raw.us;
  const us = (value: number) => `${value.toFixed(1)} µs`;
  const each = ({ cpu, items }: Work) => total(cpu) / items;
  const threads = ({ cpu, items }: Work) => perItem(cpu, items);
  return [
    {
      id: "P5", what: "deliveries/s per core, signed and recorded ÷ the least program",
      bounds: { better: "higher", floor: 0.6, aim: 0.8 }, measured: least.us / backlogged.us,
      note: `${us(least.us)} (${threads(least)}) ÷ ${us(backlogged.us)} (${threads(backlogged)}); ` +
        `a backlog of ${backlog} for ${drainedDestinations} destinations, ${Math.round(backlogged.rate)}/s, ` +
        "lists brought up to date included; " +
        byRound(taken.map((round) => each(round.least) / each(round.drain))),
    },
    {
      id: "P5=", what: "the same ÷ raw undici pool",
      measured: raw.us / backlogged.us,
      note: `${us(raw.us)} ÷ ${us(backlogged.us)}; the least program: ${(raw.us / least.us).toFixed(2)}`,
    },
    {
      id: "P6", what: "CPU per event, whole chain ÷ (bare ingest + raw undici)",
      bounds: { better: "lower", floor: 2.5, aim: 1.5 }, measured: chain.us / (bareSteady.us + rawSteady.us),
      note: `${us(chain.us)} (${threads(chain)}) ÷ (${us(bareSteady.us)} + ${us(rawSteady.us)}), all at ` +
        `${ratePerSecond}/s; ÷ both at full speed: ${(chain.us / saturated).toFixed(2)}; ` +
        byRound(taken.map((round) => each(round.steady) / (each(round.bareSteady) + each(round.rawSteady)))),
    },
    {
      id: "P16", what: "CPU per event, whole chain, at 1,000/s",
      bounds: { better: "lower", floor: 0.5, aim: 0.2, unit: "ms" }, measured: chain.us / 1000,
      note: `${steadyDestinations} destinations, from the request to the recorded delivery and lists that show it`,
    },
  ];
}
