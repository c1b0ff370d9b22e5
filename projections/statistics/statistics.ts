import type { Classified } from "../../src/features/events/facts.ts";
import type { FailureReason } from "../../src/kernel/domain/failure-reason.ts";
import { millis } from "../../src/kernel/domain/time.ts";
import type { Change, Tally, Collection } from "../../src/kernel/ports/read-models.ts";
import { create, type Projection } from "../projection.ts";

/** Counts of a set of events in one bucket of time. */
export type StatisticsDocument = {
  readonly key: string;
  readonly tenantId: string;
  /** The minute since 1970 in which the row expires; null: never. */
  readonly until: number | null;
  /**
   * `accepted`, `succeeded`, `exhausted`, `cancelled` events; finished `attempts`, of these `f:<reason>` failed;
   * durations by bin `l<bin>` and the `longest`; delays of first attempts `w<bin>`.
   */
  readonly numbers: Readonly<Record<string, number>>;
};

/** A destination of a tenant, kept after its deletion. */
export type StatisticsDestinationDocument = { readonly id: string; readonly tenantId: string };
const minuteMs = 60_000;
const hourMinutes = 60;
const dayMinutes = 24 * hourMinutes;

/** Sizes of buckets and how long they are kept, minutes. */
export const statisticsLevels = {
  minute: { minutes: 1, keptMinutes: 8 * dayMinutes },
  hour: { minutes: hourMinutes, keptMinutes: 400 * dayMinutes },
  day: { minutes: dayMinutes, keptMinutes: null },
} as const;

/** A name of {@link statisticsLevels}. */
export type StatisticsLevel = keyof typeof statisticsLevels;

export const statistics: Collection<StatisticsDocument> = {
  name: "statistics",
  key: "key",
  fields: { key: "text", tenantId: "id", until: "number", numbers: "numbers" },
  indexes: [["until"], ["tenantId"]],
};

/** Destinations of a tenant in the order of creation. */
export const statisticsDestinations: Collection<StatisticsDestinationDocument> = {
  name: "statisticsDestinations",
  key: "id",
  fields: { id: "id", tenantId: "id" },
  indexes: [["tenantId"]],
};

/** A type of events with statistics. */
export type EventTypeDocument = {
  /** `<tenantId>/<eventType>` */
  readonly key: string;
  readonly tenantId: string;
  readonly eventType: string;
};

/** The most types of a tenant with statistics: those that came first. */
export const mostEventTypes = 100;

/** The types with statistics, by tenant. */
export const eventTypes: Collection<EventTypeDocument> = {
  name: "eventTypes",
  key: "key",
  fields: { key: "text", tenantId: "id", eventType: "text" },
  indexes: [["tenantId"]],
};

/** A set of events with statistics: a tenant's, those to one destination, of one type, or both. */
export interface StatisticsSeries {
  readonly tenantId: string;
  readonly destinationId?: string | undefined;
  readonly eventType?: string | undefined;
}

/** The key of a bucket, by its number since 1970. Keys of one series and level sort by bucket. */
export function statisticsKey(
  { tenantId, destinationId = "*", eventType }: StatisticsSeries, level: StatisticsLevel, bucket: number,
): string {
  const series = eventType === undefined ? destinationId : `${destinationId}~${eventType}`;
  return `${tenantId}/${series}/${level}/${String(bucket).padStart(bucketDigits, "0")}`;
}

const bucketDigits = 9;

/** The bucket in a key. */
export function bucketIn(key: string): number {
  return Number(key.slice(-bucketDigits));
}

/** The minute of a time, since 1970. */
export function minuteNumber(at: string): number {
  return Math.floor(millis(at) / minuteMs);
}

const levelNames = Object.keys(statisticsLevels) as StatisticsLevel[];

function rowsAt(series: StatisticsSeries, minute: number): Tally["rows"] {
  return levelNames.map((level) => {
    const { minutes, keptMinutes } = statisticsLevels[level];
    const bucket = Math.floor(minute / minutes);
    const key = statisticsKey(series, level, bucket);
    const until = keptMinutes === null ? null : (bucket + 1) * minutes + keptMinutes;
    return { key, document: { key, tenantId: series.tenantId, until } };
  });
}

interface RowsOfMinute {
  readonly tenantId: string;
  readonly minute: string;
  readonly rows: Tally["rows"];
}

const rowsRemembered = 1_000;
/** The rows of the last minute, by destination and type: reused, since tallies with the same rows are cheap to sum. */
const remembered = new Map<string, RowsOfMinute>();

function rowsOf({ tenantId, destinationId, eventType }: StatisticsSeries, at: string): Tally["rows"] {
  const name = eventType === undefined ? destinationId! : `${destinationId}~${eventType}`;
  const known = remembered.get(name);
  if (known?.tenantId === tenantId && at.startsWith(known.minute)) return known.rows;
  const minute = minuteNumber(at);
  const rows = [...rowsAt({ tenantId, eventType }, minute), ...rowsAt({ tenantId, destinationId, eventType }, minute)];
  if (remembered.size >= rowsRemembered) remembered.clear();
  remembered.set(name, { tenantId, minute: at.slice(0, "2026-01-31T23:59".length), rows });
  return rows;
}

interface Counted extends Classified {
  readonly tenantId: string;
  readonly destinationId: string;
  readonly at: string;
}

type Numbers = Pick<Tally, "names" | "peak">;

function tally(series: StatisticsSeries, at: string, numbers: Numbers): Change {
  return { op: "tally", collection: statistics.name, field: "numbers", rows: rowsOf(series, at), ...numbers };
}

/** Durations by their number in each bin. */
export type Histogram = ReadonlyMap<number, number>;

interface EndedAttempt extends Counted {
  readonly attempt: number;
  readonly durationMs: number | null;
  readonly acceptedAt: string;
}

const binsToMinute = 48;
const ratio = 60_000 ** (1 / binsToMinute);
const logRatio = Math.log(ratio);
export const mostBins = 120;

function namesOfBins(prefix: string): readonly string[] {
  return Array.from({ length: mostBins }, (_, bin) => `${prefix}${bin}`);
}

const tookNames = namesOfBins("l");
const waitedNames = namesOfBins("w");

function outcome({ attempt, durationMs, acceptedAt, at }: EndedAttempt, names: readonly string[]): Numbers {
  if (durationMs === null) return { names: ["attempts", ...names] };
  const took = tookNames[binOf(durationMs)]!;
  const peak = { name: "longest", value: durationMs };
  if (attempt > 1) return { names: ["attempts", took, ...names], peak };
  // Cached by `millis` for the counters of events.
  const acceptedMs = millis(acceptedAt);
  const waited = waitedNames[binOf(millis(at) - durationMs - acceptedMs)]!;
  return { names: ["attempts", took, waited, ...names], peak };
}

const accepted: Numbers = { names: ["accepted"] };
const exhausted: Numbers = { names: ["exhausted"] };
const cancelled: Numbers = { names: ["cancelled"] };

const numbersOf = {
  EventAccepted: () => accepted,
  DeliverySucceeded: (fact: EndedAttempt & { readonly from: string; readonly to: string }) =>
    outcome(fact, fact.from === fact.to ? [] : ["succeeded"]),
  DeliveryFailed: (fact: EndedAttempt & { readonly reason: FailureReason }) => outcome(fact, [`f:${fact.reason}`]),
  DeliveryExhausted: () => exhausted,
  EventCancelled: () => cancelled,
} as const;

function counted<Fact extends Counted>(numbers: (fact: Fact) => Numbers): (fact: Fact) => readonly Change[] {
  return (fact) => {
    if (fact.test) return [];
    const { tenantId, destinationId, at } = fact;
    return [tally({ tenantId, destinationId }, at, numbers(fact))];
  };
}

/** The change of the statistics of its type that a fact with a type calls for; null if it calls for none. */
export function typedChange(type: string, data: object): Change | null {
  const numbers = (numbersOf as Readonly<Record<string, (fact: never) => Numbers>>)[type];
  const { tenantId, destinationId, eventType, at, test } = data as Counted;
  if (!numbers || eventType === undefined || test) return null;
  return tally({ tenantId, destinationId, eventType }, at, numbers(data as never));
}

/** Counts the work on events by minute, hour and day; the runner counts by type. A purge removes nothing. */
export const statisticsProjection: Projection = {
  name: "statistics",
  version: 1,
  collections: [statistics, statisticsDestinations],
  on: {
    DestinationRegistered: ({ destinationId: id, tenantId }) => [create(statisticsDestinations, { id, tenantId })],
    EventAccepted: counted(numbersOf.EventAccepted),
    DeliverySucceeded: counted(numbersOf.DeliverySucceeded),
    DeliveryFailed: counted(numbersOf.DeliveryFailed),
    DeliveryExhausted: counted(numbersOf.DeliveryExhausted),
    EventCancelled: counted(numbersOf.EventCancelled),
  },
};

/** The number of the bin that a duration in ms is in. */
export function binOf(ms: number): number {
  return Math.min(Math.max(Math.floor(Math.log(Math.max(ms, 1)) / logRatio + 1e-9), 0), mostBins - 1);
}

/** The duration, ms, that stands for a bin: at most 12.2 % off each duration in it, of 1 ms or more. */
function middleOf(bin: number): number {
  return ratio ** (bin + 0.5);
}

/** The smallest duration, ms, that a share of all does not exceed; null without any. `longest`: the maximum. */
export function percentileOf(histogram: Histogram, share: number, longest = Infinity): number | null {
  const total = [...histogram.values()].reduce((sum, count) => sum + count, 0);
  if (total === 0) return null;
  let left = Math.ceil(share * total);
  for (const [bin, count] of [...histogram].sort(([one], [other]) => one - other)) {
    left -= count;
    if (left <= 0) return Math.min(Math.round(middleOf(bin) * 100) / 100, longest);
  }
  return null;
}

/** Made by the projection runner, since it depends on all earlier entries. */
export const eventTypesProjection: Projection = { name: "eventTypes", version: 1, collections: [eventTypes], on: {} };
