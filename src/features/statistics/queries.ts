import {
  percentileOf, bucketIn, statistics, statisticsDestinations, statisticsKey, statisticsLevels,
  type StatisticsDestinationDocument, type StatisticsDocument, type StatisticsLevel, type StatisticsSeries,
} from "../../../projections/statistics/statistics.ts";
import { withinAudience } from "../../kernel/callers/access.ts";
import type { Caller } from "../../kernel/callers/caller.ts";
import { refuse } from "../../kernel/domain/refusal.ts";
import { millis, timestamp } from "../../kernel/domain/time.ts";
import type { KernelParts } from "../../kernel/kernel-parts.ts";

const buckets = {
  "1m": { minutes: 1, level: "minute" },
  "5m": { minutes: 5, level: "minute" },
  "1h": { minutes: 60, level: "hour" },
  "1d": { minutes: 1_440, level: "day" },
} as const satisfies Readonly<Record<string, { readonly minutes: number; readonly level: StatisticsLevel }>>;
/** A name of {@link buckets}. */
export type BucketSize = keyof typeof buckets;

const mostPoints = 1_500;
const mostSeries = 100;
const mostPointsOfAll = 15_000;

const minuteMs = 60_000;
const defaultMs = 86_400_000;
/** Rows read at once: other queries come in between. */
const slice = 500;

/** The wanted statistics. */
export interface StatisticsRequest {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly bucket: BucketSize;
  readonly destinationUrlId?: string | undefined;
  readonly eventType?: string | undefined;
  /** Whether each destination has a series of its own. */
  readonly byDestination: boolean;
}

/** What happened in one bucket. */
export interface StatisticsPoint {
  readonly at: string;
  readonly accepted: number;
  readonly succeeded: number;
  readonly exhausted: number;
  readonly cancelled: number;
  readonly attempts: number;
  readonly failures: Readonly<Record<string, number>>;
  readonly latencyMs: { readonly p50: number; readonly p95: number; readonly p99: number; readonly max: number } | null;
  readonly firstAttemptMs: { readonly p50: number; readonly p95: number } | null;
}

/** The statistics of a time, in series of points. */
export interface StatisticsView {
  readonly bucket: BucketSize;
  readonly from: string;
  readonly to: string;
  readonly series: readonly StatisticsSeriesView[];
}

/** One series of points, and all of them together. */
export interface StatisticsSeriesView {
  readonly destinationUrlId: string | null;
  readonly points: readonly StatisticsPoint[];
  readonly total: StatisticsPoint;
}

/** Whole buckets: from `first` up to, not including, `end`, as numbers of buckets since 1970. */
interface Buckets {
  readonly size: BucketSize;
  readonly first: number;
  readonly end: number;
}

type Numbers = Record<string, number>;
type NumbersByBucket = Map<number, Numbers>;

/** Queries about the work on events, by time. */
export class StatisticsQueries {
  readonly #parts;

  constructor(parts: Pick<KernelParts, "readModels" | "freshness" | "clock">) {
    this.#parts = parts;
  }

  /** The statistics of the caller's tenant, as new as the query. Throws a Refusal (invalid, unavailable). */
  of(caller: Caller, request: StatisticsRequest): Promise<StatisticsView> {
    const { tenantId } = caller;
    const range = this.#rangeOf(request);
    const { eventType, destinationUrlId, destinationUrlIds } = withinAudience(caller, request);
    return this.#parts.freshness.ask(async () => {
      const alone = !request.byDestination || destinationUrlId !== undefined;
      const groups: readonly (readonly (string | undefined)[])[] = alone
        ? [destinationUrlIds ?? [destinationUrlId]]
        : (destinationUrlIds?.slice(-mostSeries) ?? await this.#destinations(tenantId)).map((id) => [id]);
      const series = [];
      for (const group of groups) {
        const read: NumbersByBucket = new Map();
        for (const destinationId of group) await this.#readInto(read, { tenantId, destinationId, eventType }, range);
        if (!alone && read.size === 0) continue;
        const total = { at: timeOf(range, range.first), ...countsOf([...read.values()].reduce(merged, {})) };
        const named = alone ? destinationUrlId : group[0];
        series.push({ destinationUrlId: named ?? null, points: pointsOf(range, read), total });
        if (series.length * (range.end - range.first) > mostPointsOfAll) refuse("invalid", tooMany(mostPointsOfAll));
      }
      return { bucket: range.size, from: timeOf(range, range.first), to: timeOf(range, range.end), series };
    });
  }

  #rangeOf({ from, to, bucket: size }: StatisticsRequest): Buckets {
    const bucketMs = buckets[size].minutes * minuteMs;
    const until = to === undefined ? this.#parts.clock.now() + 1 : millis(to);
    const since = from === undefined ? until - defaultMs : millis(from);
    if (since >= until) refuse("invalid", "To: must be later than From");
    const [first, end] = [Math.floor(since / bucketMs), Math.ceil(until / bucketMs)];
    if (end - first > mostPoints) refuse("invalid", tooMany(mostPoints));
    return { size, first, end };
  }

  /** The destinations that were created last, in the order of their creation. */
  async #destinations(tenantId: string): Promise<readonly string[]> {
    const found = await this.#parts.readModels.find({
      collection: statisticsDestinations.name,
      where: { tenantId },
      order: { field: statisticsDestinations.key, descending: true },
      limit: mostSeries,
    });
    return (found as readonly StatisticsDestinationDocument[]).map(({ id }) => id).reverse();
  }

  async #readInto(
    byBucket: NumbersByBucket, series: StatisticsSeries, { size, first, end }: Buckets,
  ): Promise<void> {
    const { minutes, level } = buckets[size];
    const each = minutes / statisticsLevels[level].minutes;
    const to = statisticsKey(series, level, end * each - 1);
    for (let from = statisticsKey(series, level, first * each); ;) {
      const rows = (await this.#parts.readModels.find({
        collection: statistics.name,
        range: { field: statistics.key, from, to },
        order: { field: statistics.key, descending: false },
        limit: slice,
      })) as readonly StatisticsDocument[];
      for (const { key, numbers } of rows) {
        const bucket = Math.floor(bucketIn(key) / each);
        byBucket.set(bucket, merged(byBucket.get(bucket), numbers));
      }
      const last = rows.at(-1);
      if (!last || rows.length < slice) return;
      from = statisticsKey(series, level, bucketIn(last.key) + 1);
    }
  }
}

function tooMany(most: number): string {
  return `Bucket: gives more than ${most} points; take larger buckets or a shorter time`;
}

function merged(one: Numbers = {}, other: Readonly<Numbers>): Numbers {
  for (const [name, number] of Object.entries(other)) {
    one[name] = name === "longest" ? Math.max(one[name] ?? 0, number) : (one[name] ?? 0) + number;
  }
  return one;
}

function pointsOf(range: Buckets, byBucket: ReadonlyMap<number, Numbers>): StatisticsPoint[] {
  return Array.from({ length: range.end - range.first }, (_, index) => {
    const bucket = range.first + index;
    return { at: timeOf(range, bucket), ...countsOf(byBucket.get(bucket) ?? {}) };
  });
}

/** What the integers of a bucket say. */
export function countsOf(numbers: Readonly<Numbers>): Omit<StatisticsPoint, "at"> {
  const of = (name: string) => numbers[name] ?? 0;
  const named = (prefix: string) =>
    Object.entries(numbers).flatMap(([name, number]) =>
      (name.startsWith(prefix) ? [[name.slice(prefix.length), number] as const] : []));
  const binned = (prefix: string) =>
    new Map(named(prefix).filter(([bin]) => /^\d+$/.test(bin)).map(([bin, count]) => [Number(bin), count]));
  const [took, waited, max] = [binned("l"), binned("w"), of("longest")];
  const latency = (share: number) => percentileOf(took, share, max)!;
  const wait = (share: number) => percentileOf(waited, share)!;
  return {
    accepted: of("accepted"), succeeded: of("succeeded"), exhausted: of("exhausted"), cancelled: of("cancelled"),
    attempts: of("attempts"),
    failures: Object.fromEntries(named("f:").sort(([one], [other]) => (one < other ? -1 : 1))),
    latencyMs: took.size > 0 ? { p50: latency(0.5), p95: latency(0.95), p99: latency(0.99), max } : null,
    firstAttemptMs: waited.size > 0 ? { p50: wait(0.5), p95: wait(0.95) } : null,
  };
}

function timeOf({ size }: Buckets, bucket: number): string {
  return timestamp(bucket * buckets[size].minutes * minuteMs);
}
