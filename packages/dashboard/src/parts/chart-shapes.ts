/** A rectangle of a chart, in the units of its view box. */
export interface Rectangle {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** The box that bars fill: `base` is the y of their line, `room` the height of the highest bar. */
export interface BarBox {
  readonly width: number;
  readonly base: number;
  readonly room: number;
  /** The space between two bars. */
  readonly gap: number;
}

/** A value other than 0 is at least this high, so that it is seen beside much higher ones. */
const leastHeight = 2;

/** The sum of each bucket over all series. */
export function sums(series: readonly (readonly number[])[]): readonly number[] {
  return (series[0] ?? []).map((_, bucket) => series.reduce((sum, values) => sum + (values[bucket] ?? 0), 0));
}

/** Bars that grow from their line, those of later series on top; for each series one rectangle a bucket. */
export function stackedBars(
  series: readonly (readonly number[])[], { width, base, room, gap }: BarBox, most: number,
): readonly (readonly Rectangle[])[] {
  const each = width / Math.max(1, series[0]?.length ?? 0);
  const tops: number[] = [];
  return series.map((values) => values.map((value, bucket) => {
    const height = value === 0 ? 0 : Math.max(leastHeight, value / most * room);
    const from = tops[bucket] ?? 0;
    tops[bucket] = from + height;
    return { x: bucket * each + gap / 2, y: base - from - height, width: Math.max(1, each - gap), height };
  }));
}

/** The path of a step line: each value is a level as wide as its bucket, null is a gap. */
export function stepPath(
  values: readonly (number | null)[], most: number,
  { width, height }: { readonly width: number; readonly height: number },
): string {
  const each = width / Math.max(1, values.length);
  const round = (number: number) => Math.round(number * 10) / 10;
  return values.map((value, bucket) => {
    if (value === null) return "";
    const level = round(height - 1 - value / most * (height - 2));
    const start = bucket > 0 && values[bucket - 1] !== null ? "L" : "M";
    return `${start}${round(bucket * each)} ${level}H${round((bucket + 1) * each)}`;
  }).join("");
}
