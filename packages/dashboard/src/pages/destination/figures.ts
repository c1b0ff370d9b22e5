import type { Schemas } from "@webhook-relay/client";

type Point = Schemas["StatisticsPoint"];

/** The attempts at a destination over a time. */
export interface Figures {
  readonly attempts: number;
  readonly failed: number;
  /** Failed attempts by reason, the most first. */
  readonly reasons: readonly (readonly [reason: string, count: number])[];
  /** The p95 of all durations, ms; null without an attempt of a known duration. */
  readonly p95: number | null;
}

/** How many attempts of a bucket failed. */
export function failedOf({ failures }: Pick<Point, "failures">): number {
  return Object.values(failures).reduce((sum, count) => sum + count, 0);
}

/** The figures of the total of a series; all zero without one. */
export function figuresOf(total: Point | undefined): Figures {
  return {
    attempts: total?.attempts ?? 0,
    failed: total ? failedOf(total) : 0,
    reasons: Object.entries(total?.failures ?? {}).sort(([, one], [, other]) => other - one),
    p95: total?.latencyMs?.p95 ?? null,
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
