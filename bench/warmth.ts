import { startEventStoreDb } from "../test/support/engines/eventstoredb.ts";
import { total } from "./support/cpu.ts";
import { byRound, type Figure, type LedgerLine, type Report } from "./support/report.ts";
import { sized } from "./support/size.ts";
import { Stage } from "./support/stage.ts";
import { median } from "./support/statistics.ts";

const destinations = 20;
const connections = 64;
const windowMs = 10_000;
const windows = 7;
const rounds = sized(1, 3);

/** CPU of the relay for an event, whole chain, in ms, in each window of a relay's first minute under full load. */
type Course = readonly number[];

/** P22 and P26: what an event costs right after `ready` and a minute later, on the embedded log and on EventStoreDB. */
export async function warmth(): Promise<Report> {
  const ledger: LedgerLine[] = [];
  const courses = { embedded: [] as Course[], eventStoreDb: [] as Course[] };
  for (let round = 0; round < rounds; round += 1) {
    courses.embedded.push(await courseOf(ledger));
    const log = await startEventStoreDb();
    courses.eventStoreDb.push(await courseOf(ledger, {
      RELAY_EVENT_STORE: "eventstoredb", RELAY_EVENTSTOREDB_URL: log.url,
    }));
    await log.stop();
  }
  return { name: "warmth", figures: figuresOf(courses), ledger, rounds: courses };
}

/** A fresh relay under full load from its first second on. */
async function courseOf(ledger: LedgerLine[], environment: Readonly<Record<string, string>> = {}): Promise<Course> {
  const stage = await Stage.open(destinations);
  try {
    const subject = await stage.subject(stage.urls("/fast"), { environment });
    const course: number[] = [];
    for (let window = 0; window < windows; window += 1) {
      const load = { connections, durationMs: windowMs, maxEvents: Number.MAX_SAFE_INTEGER };
      const { cpu, accepted } = await stage.closed(subject, load, await stage.delivered(subject));
      course.push(total(cpu) / accepted);
    }
    ledger.push(...(await stage.ledger(environment["RELAY_EVENTSTOREDB_URL"] ? "EventStoreDB" : "embedded", subject)));
    return course;
  } finally {
    await stage.close();
  }
}

function figuresOf(
  { embedded, eventStoreDb }: { readonly embedded: readonly Course[]; readonly eventStoreDb: readonly Course[] },
): Figure[] {
  const ratios = (of: (round: number) => number) => embedded.map((_, round) => of(round));
  const cold = ratios((round) => embedded[round]![0]! / embedded[round]!.at(-1)!);
  const warm = ratios((round) => eventStoreDb[round]!.at(-1)! / embedded[round]!.at(-1)!);
  const early = ratios((round) => eventStoreDb[round]![0]! / embedded[round]![0]!);
  const shown = (courses: readonly Course[]) =>
    courses.map((course) => course.map((ms) => ms.toFixed(2)).join(" ")).join("; ");
  return [
    {
      id: "P26", what: "CPU of an event in the first 10 s after `ready` ÷ in the last of the first minute, saturated",
      bounds: { better: "lower", floor: 1.3, aim: 1.1 }, measured: median(cold),
      note: `ms in windows of 10 s: ${shown(embedded)}`,
    },
    {
      id: "P22", what: "CPU of an event on EventStoreDB ÷ on the embedded log, saturated, after a minute",
      bounds: { better: "lower", floor: 3, aim: 2 }, measured: median(warm),
      note: `ms in windows of 10 s: ${shown(eventStoreDb)}; ${byRound(warm)}`,
    },
    {
      id: "P22", what: "the same in the first 10 s", bounds: { better: "lower", floor: 4, aim: 3 },
      measured: median(early), note: byRound(early),
    },
  ];
}
