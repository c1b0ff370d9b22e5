import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fillSubscriptions } from "./data/subscriptions.ts";
import { perItem, total } from "./support/cpu.ts";
import { RelayProcess, type FanOutRecord } from "./support/relay.ts";
import { byRound, listed, type Figure, type Report } from "./support/report.ts";
import { rounds, sized } from "./support/size.ts";
import { placed, Stage, type Measured, type Subject } from "./support/stage.ts";
import { median, type Percentiles } from "./support/statistics.ts";

const connections = 100;
/** The same for events and for messages, whatever the number of their receivers. */
const deliveriesPerSecond = 1_000;
const seconds = sized(2, 12);
const warmUpDeliveries = 20_000;
/** Deliveries that come later than this after the load's end are not of its run. */
const graceMs = 1_000;
const some = 10;
const many = 100;
const kilobyte = 1_000;

const owners = sized(20_000, 100_000);
const destinationsOfOwner = 3;
const ownedMs = sized(1_500, 6_000);
/** More than a load can send. */
const maxEvents = 1_000_000;

interface Side {
  readonly load: Measured;
  /** Of the deliveries to receivers that answer. */
  readonly latency: Percentiles;
}

/** As many deliveries a second to receivers of one kind or another. */
interface Round {
  /** Events for ten destinations, each of them for one. */
  readonly single: Side;
  /** Messages to one, ten and a hundred receivers. */
  readonly toOne: Side;
  readonly toSome: Side;
  readonly toMany: Side;
  /** Messages to ten receivers, one of which never answers. */
  readonly oneDead: Side;
}

/** Messages of one owner, and of any of many owners, at full speed. */
interface OwnedRound {
  readonly ofOne: Measured;
  readonly ofAny: Measured;
}

/** Bytes of the log for each delivery. */
type Bytes = Readonly<Record<"single" | "toSome", number>>;

/** The cost of messages to several receivers beside that of an event for each, and the cost of many owners. */
export async function fanout(): Promise<Report> {
  const folder = mkdtempSync(join(tmpdir(), "relay-bench-fanout-"));
  try {
    const steady = await steadyRounds(folder);
    const owned = await ownedRounds(folder);
    return {
      name: "fanout", figures: [...figuresOf(steady.taken, steady.bytes), ownedFigure(owned.taken)],
      ledger: [...steady.ledger, ...owned.ledger],
      rounds: { steady: steady.taken, bytes: steady.bytes, owned: owned.taken },
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function steadyRounds(
  folder: string,
): Promise<Pick<Report, "ledger"> & { readonly taken: readonly Round[]; readonly bytes: Bytes }> {
  const stage = await Stage.open(many);
  try {
    const urls = stage.urls("/fast");
    const withSilent = [...stage.urls("/silent").slice(0, 1), ...urls.slice(1, some)];
    const logsIn = { single: join(folder, "single"), toSome: join(folder, "to-some") };
    // The circuit of the silent receiver never opens: it costs attempts all the time.
    const fanned = { fanOut: true, tenant: { maxTrys: 10_000 } } as const;
    const single = await stage.subject(urls.slice(0, some), { dataDir: logsIn.single });
    const toOne = await stage.subject(urls.slice(0, 1), fanned);
    const toSome = await stage.subject(urls.slice(0, some), { ...fanned, dataDir: logsIn.toSome });
    const toMany = await stage.subject(urls, fanned);
    const oneDead = await stage.subject(withSilent, fanned);
    const settled = async (subject: Subject) =>
      subject === oneDead ? () => pause(graceMs) : stage.delivered(subject);
    for (const subject of [single, toOne, toSome, toMany, oneDead]) {
      const load = { connections, durationMs: 60_000, maxEvents: warmUpDeliveries / subject.copies };
      await stage.closed(subject, load, await settled(subject));
    }
    const side = async (subject: Subject): Promise<Side> => {
      const ratePerSecond = deliveriesPerSecond / subject.copies;
      const steady = { connections, ratePerSecond, events: ratePerSecond * seconds };
      const load = await stage.open(subject, steady, await settled(subject));
      return { load, latency: (await stage.arrivals(load)).latency };
    };
    const taken: Round[] = [];
    for (let round = 0; round <= rounds; round += 1) {
      // The first round warms everything up and does not count.
      const one: Round = {
        single: await side(single), toOne: await side(toOne), toSome: await side(toSome), toMany: await side(toMany),
        oneDead: await side(oneDead),
      };
      if (round > 0) taken.push(one);
    }
    const ledger = [
      ...await stage.ledger("single", single), ...await stage.ledger("to one", toOne),
      ...await stage.ledger("to ten", toSome), ...await stage.ledger("to a hundred", toMany),
      ...await stage.ledger("one of ten dead", oneDead),
    ];
    const bytes = {
      single: await logBytes(single, logsIn.single), toSome: await logBytes(toSome, logsIn.toSome),
    };
    return { taken, bytes, ledger };
  } finally {
    await stage.close();
  }
}

/** Ends a relay that has delivered everything; answers the size of its log for each delivery. */
async function logBytes({ relay, loads, copies }: Subject, dataDir: string): Promise<number> {
  await relay.stop();
  const deliveries = loads.reduce((sum, { accepted }) => sum + accepted * copies, 0);
  return statSync(join(dataDir, "log.db")).size / deliveries;
}

async function ownedRounds(
  folder: string,
): Promise<Pick<Report, "ledger"> & { readonly taken: readonly OwnedRound[] }> {
  const stage = await Stage.open(destinationsOfOwner);
  try {
    await stage.receiver.call("gate", false);
    const one = await ownedSubject(stage, join(folder, "of-one"), 1);
    const any = await ownedSubject(stage, join(folder, "of-any"), owners);
    const load = { connections, durationMs: ownedMs, maxEvents };
    const taken: OwnedRound[] = [];
    for (let round = 0; round <= rounds; round += 1) {
      const both: OwnedRound = {
        ofOne: await stage.closed(one, load, () => one.account.standing()),
        ofAny: await stage.closed(any, load, () => any.account.standing()),
      };
      if (round > 0) taken.push(both);
    }
    return { taken, ledger: [...await stage.ledger("one owner", one), ...await stage.ledger("any owner", any)] };
  } finally {
    await stage.close();
  }
}

/** A relay with so many owners, each with subscriptions of its own. Deliveries are held at the closed gate. */
async function ownedSubject(stage: Stage, dataDir: string, ofSo: number): Promise<Subject> {
  const relay = await RelayProcess.start({ caPem: stage.caPem, dataDir });
  let tenant: FanOutRecord;
  try {
    tenant = await relay.createSender(
      await relay.createTenant(placed(stage.urls("/gate")), {}, { serverRateLimit: 1 }), ofSo);
  } finally {
    await relay.stop();
  }
  await fillSubscriptions(dataDir, tenant);
  return stage.storedSubject(tenant, { dataDir, environment: { RELAY_DELIVERY_TIMEOUT: "1h" } });
}

function figuresOf(taken: readonly Round[], bytes: Bytes): Figure[] {
  const eachUs = ({ load }: Side) => (total(load.cpu) / (load.accepted * load.copies)) * 1000;
  const cheapest = (name: keyof Round) => taken.map((round) => round[name]).sort((a, b) => eachUs(a) - eachUs(b))[0]!;
  const single = cheapest("single");
  const cpu = (name: keyof Round) => {
    const side = cheapest(name);
    const us = (one: Side) =>
      `${eachUs(one).toFixed(1)} µs (${perItem(one.load.cpu, one.load.accepted * one.load.copies)})`;
    return {
      measured: eachUs(side) / eachUs(single),
      note: `${us(side)} ÷ ${us(single)}, at ${deliveriesPerSecond} deliveries/s; ` +
        byRound(taken.map((round) => eachUs(round[name]) / eachUs(round.single))),
    };
  };
  const answers = (name: keyof Round) => taken.map((round) => round[name].load.answerMs.p99);
  const latencies = (name: keyof Round) => taken.map((round) => round[name].latency.p99);
  return [
    {
      id: "M1", what: `CPU for each delivery, ${some} receivers ÷ an event for each`,
      bounds: { better: "lower", floor: 0.9, aim: 0.75 }, ...cpu("toSome"),
    },
    { id: "M1-", what: "the same, 1 receiver", ...cpu("toOne") },
    { id: "M1+", what: `the same, ${many} receivers`, ...cpu("toMany") },
    {
      id: "M2", what: `log for each delivery of 1 KB, ${some} receivers`,
      bounds: { better: "lower", floor: 3, aim: 2.5, unit: "KB" }, measured: bytes.toSome / kilobyte,
      note: `log.db of ${Math.round(bytes.toSome)} bytes for each; an event for each: ${Math.round(bytes.single)}`,
    },
    {
      id: "M3", what: `due to 202, p99, ${some} receivers ÷ an event for each`,
      bounds: { better: "lower", floor: 1.5, aim: 1 }, measured: median(answers("toSome")) / median(answers("single")),
      note: `ms by round, events: ${listed(answers("single"), 1)}; to 1: ${listed(answers("toOne"), 1)}; ` +
        `to ${some}: ${listed(answers("toSome"), 1)}; to ${many}: ${listed(answers("toMany"), 1)}; medians compared`,
    },
    {
      id: "M4", what: `1 of ${some} receivers dead: the others' p99 ÷ all alive`,
      bounds: { better: "lower", floor: 1.1, aim: 1 },
      measured: median(latencies("oneDead")) / median(latencies("toSome")),
      note: `due to first byte, ms by round, alive: ${listed(latencies("toSome"), 1)}; ` +
        `one dead: ${listed(latencies("oneDead"), 1)}; events: ${listed(latencies("single"), 1)}; medians compared`,
    },
  ];
}

function ownedFigure(taken: readonly OwnedRound[]): Figure {
  const rates = (name: keyof OwnedRound) => taken.map((round) => round[name].rate);
  const us = (name: keyof OwnedRound) =>
    Math.min(...taken.map((round) => (total(round[name].cpu) / round[name].accepted) * 1000)).toFixed(1);
  return {
    id: "M5", what: `messages/s of any of ${owners} owners ÷ of one, ${destinationsOfOwner} subscriptions each`,
    bounds: { better: "higher", floor: 0.9, aim: 1 },
    measured: Math.max(...rates("ofAny")) / Math.max(...rates("ofOne")),
    note: `by round, of one: ${listed(rates("ofOne"))}; of any: ${listed(rates("ofAny"))}; the best of each; ` +
      `CPU of a message: ${us("ofOne")} and ${us("ofAny")} µs; deliveries held`,
  };
}
