import type { Schemas } from "@webhook-relay/client";

type Point = Schemas["StatisticsPoint"];

/** The attempts at a destination in all buckets of a time. */
export interface Figures {
  readonly attempts: number;
  readonly failed: number;
  /** Failed attempts by reason, the most first. */
  readonly reasons: readonly (readonly [reason: string, count: number])[];
  /** The highest p95 of a bucket, ms: the p95 of all is no higher. Null without an attempt of a known duration. */
  readonly highestP95: number | null;
}

/** How many attempts of a bucket failed. */
export function failedOf({ failures }: Pick<Point, "failures">): number {
  return Object.values(failures).reduce((sum, count) => sum + count, 0);
}

/** Adds the buckets up. */
export function figuresOf(points: readonly Point[]): Figures {
  const reasons = new Map<string, number>();
  for (const [reason, count] of points.flatMap(({ failures }) => Object.entries(failures))) {
    reasons.set(reason, (reasons.get(reason) ?? 0) + count);
  }
  const percentiles = points.flatMap(({ latencyMs }) => latencyMs === null ? [] : [latencyMs.p95]);
  return {
    attempts: points.reduce((sum, { attempts }) => sum + attempts, 0),
    failed: points.reduce((sum, point) => sum + failedOf(point), 0),
    reasons: [...reasons].sort(([, one], [, other]) => other - one),
    highestP95: percentiles.length === 0 ? null : Math.max(...percentiles),
  };
}

/** Whether the newest attempts of a destination fail, and how many failed in all buckets. */
export function trafficOf(
  points: readonly Point[],
): { readonly state: "failing" | "quiet" | "going"; readonly failed: number } {
  const newest = points.findLast(({ attempts }) => attempts > 0);
  const failed = points.reduce((sum, point) => sum + failedOf(point), 0);
  if (!newest) return { state: "quiet", failed };
  return { state: failedOf(newest) === newest.attempts ? "failing" : "going", failed };
}

/** The share of attempts that succeeded, such as `99.9 %`: cut, never rounded up to 100. */
export function successText({ attempts, failed }: Pick<Figures, "attempts" | "failed">): string {
  if (attempts === 0) return "–";
  return `${Math.floor((attempts - failed) / attempts * 1_000) / 10} %`;
}
