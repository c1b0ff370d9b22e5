import { rmSync } from "node:fs";
import { totalmem } from "node:os";
import { copyOf, dataSet, type DataSet } from "./data/data-set.ts";
import { getPath, listPath, questionsOf, within, type GetQuestion, type ListQuestion } from "./data/questions.ts";
import { Asker, type TimedAnswer } from "./support/asker.ts";
import { total } from "./support/cpu.ts";
import { bytesRead, folderBytes } from "./support/disk.ts";
import type { Account } from "./support/relay.ts";
import { byRound, type Figure, type LedgerLine, type Report } from "./support/report.ts";
import { rounds, sized } from "./support/size.ts";
import { Stage, type Measured, type Subject } from "./support/stage.ts";
import { median, percentilesOf, type Percentiles } from "./support/statistics.ts";

/** Events of the larger set; the smaller one has a tenth. */
const events = Number(process.env["EVENTS"] ?? sized(1_000_000, 10_000_000));
/** A set up to this size is copied for a run, so that the next finds it as it was; a larger one grows a little. */
const mostCopied = 1_000_000;
const questions = sized(200, 1_000);
const appends = { connections: 100, durationMs: 60_000, maxEvents: sized(15_000, 50_000) };
const gibibyte = 2 ** 30;

/** A relay on a set. */
interface Side {
  readonly set: DataSet;
  /** Of its files, before anything was added. */
  readonly bytes: number;
  readonly subject: Subject;
  readonly owners: readonly Account[];
  readonly asker: Asker;
  readonly ledger: { asked: number; answered: number; promised: number; listed: number };
  readonly close: () => Promise<void>;
}

/** One side's latencies in a round. */
interface Answers {
  readonly lists: Percentiles;
  readonly gets: Percentiles;
  /** The same questions once more. */
  readonly listsAgain: Percentiles;
  readonly getsAgain: Percentiles;
  /** From the disk for each question asked for the first time. */
  readonly readBytes: number;
}

interface Appended {
  readonly load: Measured;
  /** From the disk for each event. */
  readonly readBytes: number;
}

interface Pair<T> {
  readonly smaller: T;
  readonly larger: T;
}

/** Makes the sets that {@link volume} needs, where they are not there yet. */
export async function volumeSets(): Promise<Pair<DataSet>> {
  return { smaller: await dataSet(events / 10), larger: await dataSet(events) };
}

/** P7, P8: the cost of much stored data. */
export async function volume(): Promise<Report> {
  const sets = await volumeSets();
  const stage = await Stage.open(1);
  const open: Side[] = [];
  try {
    await stage.receiver.call("gate", false);
    const sides = { smaller: await sideOf(stage, sets.smaller, open), larger: await sideOf(stage, sets.larger, open) };
    const asked: Pair<Answers>[] = [];
    for (let round = 0; round <= rounds; round += 1) {
      const answers = await ask(sides, round);
      // The first round warms everything up and does not count.
      if (round > 0) asked.push(answers);
    }
    for (const { subject } of open) {
      await subject.account.patchDestinations({ url: stage.urls("/gate")[0], status: "active" });
    }
    const appended: Pair<Appended>[] = [];
    for (let round = 0; round <= rounds; round += 1) {
      const one = { smaller: await append(stage, sides.smaller), larger: await append(stage, sides.larger) };
      if (round > 0) appended.push(one);
    }
    const ledger = [
      ...linesOf("smaller", sides.smaller), ...linesOf("larger", sides.larger),
      ...await stage.ledger("smaller", sides.smaller.subject), ...await stage.ledger("larger", sides.larger.subject),
    ];
    const figures = [appendFigure(sides, appended), ...questionFigures(sides, asked)];
    for (const { subject } of open) await subject.account.patchDestinations({ status: "inactive" });
    return { name: "volume", figures, ledger, rounds: { asked, appended } };
  } finally {
    await stage.close();
    for (const side of open) await side.close();
  }
}

async function sideOf(stage: Stage, set: DataSet, open: Side[]): Promise<Side> {
  const copied = set.events <= mostCopied;
  const dataDir = copied ? await copyOf(set) : set.dataDir;
  const environment = { RELAY_DELIVERY_TIMEOUT: "1h", RELAY_ACCESS_TOKEN_TTL: "1d" };
  const subject = await stage.storedSubject(set.spare, { dataDir, environment });
  const owners: Account[] = [];
  for (const tenant of set.tenants) owners.push(await subject.relay.openAccount(tenant));
  const asker = new Asker(subject.relay.url);
  const side: Side = {
    set, bytes: folderBytes(dataDir), subject, owners, asker,
    ledger: { asked: 0, answered: 0, promised: 0, listed: 0 },
    close: async () => {
      await asker.close();
      if (copied) rmSync(dataDir, { recursive: true });
    },
  };
  open.push(side);
  return side;
}

/** Asks both sides every question of a round, in turns, and then every one of them again. */
async function ask({ smaller, larger }: Pair<Side>, round: number): Promise<Pair<Answers>> {
  const drawn = questionsOf(round, questions);
  const lists: ListQuestion[] = [];
  // Only pages that both sets have compare.
  for (const question of drawn.lists) lists.push(within(question, await totalOf(smaller, question)));
  const both = { smaller: answersOf(smaller), larger: answersOf(larger) };
  for (const again of [false, true]) {
    const readBefore = { smaller: bytesRead(smaller.subject.pid), larger: bytesRead(larger.subject.pid) };
    for (const [at, list] of lists.entries()) {
      for (const side of inTurns(at)) await both[side].list(list, again);
    }
    for (const [at, get] of drawn.gets.entries()) {
      for (const side of inTurns(at)) await both[side].get(get, again);
    }
    if (again) continue;
    both.smaller.read = bytesRead(smaller.subject.pid) - readBefore.smaller;
    both.larger.read = bytesRead(larger.subject.pid) - readBefore.larger;
  }
  return { smaller: both.smaller.answers(), larger: both.larger.answers() };
}

function inTurns(at: number): readonly (keyof Pair<unknown>)[] {
  return at % 2 === 0 ? ["smaller", "larger"] : ["larger", "smaller"];
}

async function totalOf(side: Side, question: ListQuestion): Promise<number> {
  const path = listPath({ ...question, quantity: 1, page: 1 }, side.set);
  return pageIn(await side.asker.get(path, side.owners[question.tenant]!.owner)).total;
}

/** Asks one side and keeps how long it took. */
function answersOf(side: Side) {
  const { asker, owners, set, ledger } = side;
  const times = { lists: [] as number[], gets: [] as number[], listsAgain: [] as number[], getsAgain: [] as number[] };
  const heard = ({ status, ms }: TimedAnswer, into: number[]) => {
    ledger.asked += 1;
    if (status === 200) ledger.answered += 1;
    into.push(ms);
  };
  const share = (values: readonly number[]) => percentilesOf(Float64Array.from(values));
  return {
    read: 0,
    async list(question: ListQuestion, again: boolean): Promise<void> {
      const asked = await asker.get(listPath(question, set), owners[question.tenant]!.owner);
      heard(asked, again ? times.listsAgain : times.lists);
      const { total, items } = pageIn(asked);
      const before = question.quantity * (question.page - 1);
      ledger.promised += Math.max(0, Math.min(question.quantity, total - before));
      ledger.listed += items.length;
    },
    async get(question: GetQuestion, again: boolean): Promise<void> {
      const { tenant, path } = getPath(question, set);
      heard(await asker.get(path, owners[tenant]!.owner), again ? times.getsAgain : times.gets);
    },
    answers(): Answers {
      const { lists, gets, listsAgain, getsAgain } = times;
      return {
        lists: share(lists), gets: share(gets), listsAgain: share(listsAgain), getsAgain: share(getsAgain),
        readBytes: this.read / (lists.length + gets.length),
      };
    },
  };
}

function pageIn({ status, body }: TimedAnswer): { readonly total: number; readonly items: readonly unknown[] } {
  if (status !== 200) return { total: 0, items: [] };
  return JSON.parse(body.toString()) as { readonly total: number; readonly items: readonly unknown[] };
}

async function append(stage: Stage, { subject }: Side): Promise<Appended> {
  const before = bytesRead(subject.pid);
  const load = await stage.closed(subject, appends, () => subject.account.standing());
  return { load, readBytes: (bytesRead(subject.pid) - before) / load.accepted };
}

function linesOf(name: string, { ledger: { asked, answered, promised, listed } }: Side): LedgerLine[] {
  return [
    { what: `${name}: questions asked = answered`, left: asked, right: answered },
    { what: `${name}: items that totals promised = listed`, left: promised, right: listed },
  ];
}

function appendFigure({ smaller, larger }: Pair<Side>, taken: readonly Pair<Appended>[]): Figure {
  const of = (side: keyof Pair<unknown>) => taken.map((round) => round[side]);
  const best = (side: keyof Pair<unknown>) => Math.max(...of(side).map(({ load }) => load.rate));
  const each = (side: keyof Pair<unknown>) => {
    const us = Math.min(...of(side).map(({ load }) => (total(load.cpu) / load.accepted) * 1000));
    return `${Math.round(best(side))}/s, ${us.toFixed(0)} µs of CPU and ` +
      `${median(of(side).map(({ readBytes }) => readBytes)).toFixed(0)} B from the disk an event`;
  };
  return {
    id: "P7", what: `append rate, ${larger.set.events} ÷ ${smaller.set.events} events stored`,
    bounds: { better: "higher", floor: 0.8, aim: 0.95 }, measured: best("larger") / best("smaller"),
    note: `${each("larger")} ÷ ${each("smaller")}; ${appends.maxEvents} a round, deliveries held; ` +
      byRound(taken.map((round) => round.larger.load.rate / round.smaller.load.rate)),
  };
}

function questionFigures({ smaller, larger }: Pair<Side>, taken: readonly Pair<Answers>[]): Figure[] {
  const sizes = `${larger.set.events} ÷ ${smaller.set.events} events`;
  const disk = (side: Side, name: keyof Pair<unknown>) => {
    const read = median(taken.map((round) => round[name].readBytes)) / 1024;
    return `${(side.bytes / gibibyte).toFixed(1)} GiB of files, ` +
      `${read.toFixed(0)} KiB from the disk a question`;
  };
  const memory = totalmem();
  const storage = `larger: ${disk(larger, "larger")}; smaller: ${disk(smaller, "smaller")}; ` +
    `memory ${(memory / gibibyte).toFixed(0)} GiB` +
    (larger.bytes > memory ? ", too little for the larger set: asked again (P8+), the disk has no part in it" : "");
  const ratio = (what: "lists" | "gets" | "listsAgain" | "getsAgain") => {
    const of = (side: keyof Pair<unknown>, share: "p50" | "p99") =>
      median(taken.map((round) => round[side][what][share]));
    const shown = (side: keyof Pair<unknown>) => `${of(side, "p99").toFixed(2)} (p50 ${of(side, "p50").toFixed(2)})`;
    return {
      measured: of("larger", "p99") / of("smaller", "p99"),
      note: `${shown("larger")} ÷ ${shown("smaller")} ms, ${questions} questions a round, medians; ` +
        byRound(taken.map((round) => round.larger[what].p99 / round.smaller[what].p99)),
    };
  };
  const bounds = { better: "lower", floor: 1.5, aim: 1.1 } as const;
  const lists = ratio("lists");
  return [
    { id: "P8", what: `list page p99, ${sizes}`, bounds, ...lists, note: `${lists.note}; ${storage}` },
    { id: "P8", what: `get p99, ${sizes}`, bounds, ...ratio("gets") },
    { id: "P8+", what: "list page p99, the same questions asked again", ...ratio("listsAgain") },
    { id: "P8+", what: "get p99, likewise", ...ratio("getsAgain") },
  ];
}
