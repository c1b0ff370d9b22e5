import { useState, type KeyboardEvent, type PointerEvent, type ReactNode } from "react";
import { usePreferences } from "../app/preferences.tsx";
import { classes } from "../style/classes.ts";
import shared from "../style/shared.module.css";
import { Chart, type Tone } from "./chart.tsx";
import { sums } from "./chart-shapes.ts";
import { ticksOf, type Buckets } from "./time-axis.ts";
import styles from "./time-chart.module.css";
import { momentText, type Zone } from "./times.ts";

/** Values over time, one for each bucket; of lines null leaves a gap. */
export interface TimeSeries {
  readonly name: string;
  /** The word behind a value: `delivered`. */
  readonly word: string;
  readonly tone: Tone;
  readonly values: readonly (number | null)[];
}

/**
 * Counts over time as stacked bars, or values as lines, on an axis with round times of the zone. The pointer and the
 * arrow keys read a bucket out; Shift and arrows, or dragging, choose a time. The buttons of the legend filter.
 */
export function TimeChart({
  label, buckets, series, lineText, chosen, toggle, choose, empty, height = 64, children,
}: {
  readonly label: string;
  readonly buckets: Buckets;
  readonly series: readonly TimeSeries[];
  /** The text of a value; given for lines only. Several buckets are read out as the highest. */
  readonly lineText?: ((value: number) => string) | undefined;
  /** The names of the series that are shown; none: all. */
  readonly chosen: readonly string[];
  readonly toggle: (name: string) => void;
  /** Takes the beginning and the end of a chosen time, ms since 1970. */
  readonly choose: (from: number, to: number) => void;
  /** Says that the time has nothing to show. */
  readonly empty: string;
  readonly height?: number;
  /** More for the line of the legend. */
  readonly children?: ReactNode;
}): ReactNode {
  const { zone } = usePreferences();
  const { at, stepMs } = buckets;
  const [read, setRead] = useState<{ readonly first: number; readonly last: number }>();
  const [from, to] = [at[0] ?? 0, (at.at(-1) ?? 0) + stepMs];
  const shown = series.filter(({ name }) => chosen.length === 0 || chosen.includes(name));
  const most = Math.max(0, ...lineText ? shown.flatMap(numbers) : sums(shown.map(numbers)));
  const chooseBuckets = (first: number, last: number) => {
    const [start, end] = [at[first], at[last]];
    if (start !== undefined && end !== undefined) choose(start, end + stepMs);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const last = at.length - 1;
    const { first: start, last: current } = read ?? { first: last, last };
    const moves: Readonly<Record<string, number>> = {
      ArrowLeft: Math.max(0, current - 1), ArrowRight: Math.min(last, current + 1), Home: 0, End: last,
    };
    const next = moves[event.key];
    if (next !== undefined) setRead({ first: event.shiftKey ? start : next, last: next });
    else if (event.key === "Enter") chooseBuckets(Math.min(start, current), Math.max(start, current));
    else return;
    event.preventDefault();
  };
  const onPointer = ({ clientX, currentTarget }: PointerEvent) => {
    const { left, width } = currentTarget.getBoundingClientRect();
    const bucket = Math.max(0, Math.min(at.length - 1, Math.floor((clientX - left) / width * at.length)));
    setRead({ first: bucket, last: bucket });
  };
  const reading = read && readingOf(read, { buckets, shown, zone, lineText });
  const whole = `${momentText(iso(from), zone).slice(0, -7)} – ${momentText(iso(to), zone).slice(0, -7)}`;
  return (
    <figure className={styles.timeChart}>
      <figcaption className={styles.head}>
        <Legend series={series} isCounted={!lineText} chosen={chosen} toggle={toggle} />
        <span className={classes(shared.small, styles.reading)}>{reading ?? whole}</span>
        {children}
      </figcaption>
      <div
        className={styles.plot} tabIndex={0} role="slider" aria-label={label} aria-valuemin={0}
        aria-valuemax={Math.max(0, at.length - 1)} aria-valuenow={read?.last ?? Math.max(0, at.length - 1)}
        aria-valuetext={reading ?? whole} onKeyDown={onKeyDown} onPointerMove={onPointer}
        onPointerLeave={() => setRead(undefined)} onBlur={() => setRead(undefined)} style={{ height }}
      >
        <Chart
          className={styles.bars} width={at.length * 10} height={height} gap={2} marked={read?.last}
          {...lineText ? { lines: shown } : { bars: shown.map((each) => ({ tone: each.tone, values: numbers(each) })) }}
          choose={chooseBuckets}
        />
        {most > 0 ? <span className={styles.most}>{lineText ? lineText(most) : most.toLocaleString("en")}</span>
          : <span className={styles.empty}>{empty}</span>}
      </div>
      <TimeAxis from={from} to={to} />
    </figure>
  );
}

/** The round times of the zone below a chart, at their places; ms since 1970. */
function TimeAxis({ from, to }: { readonly from: number; readonly to: number }): ReactNode {
  const { zone } = usePreferences();
  return (
    <div className={styles.axis} aria-hidden="true">
      {ticksOf({ from, to }, zone).map((tick) => {
        const place = (tick.at - from) / (to - from) * 100;
        const edge = place < 2 ? "start" : place > 98 ? "end" : undefined;
        return (
          <span key={tick.at} style={{ left: `${place}%` }} data-edge={edge}>
            {tick.label}
          </span>
        );
      })}
    </div>
  );
}

function Legend({ series, isCounted, chosen, toggle }: {
  readonly series: readonly TimeSeries[];
  readonly isCounted: boolean;
  readonly chosen: readonly string[];
  readonly toggle: (name: string) => void;
}): ReactNode {
  return (
    <span className={styles.legend} role="group" aria-label="Show">
      {series.map((each) => (
        <button
          key={each.name} type="button" className={shared.plain} aria-pressed={chosen.includes(each.name)}
          data-off={chosen.length > 0 && !chosen.includes(each.name)} onClick={() => toggle(each.name)}
        >
          <span className={classes(styles.swatch, shared[each.tone])} />
          {isCounted && <><strong>{sum(numbers(each)).toLocaleString("en")}</strong>{" "}</>}{each.word}
        </button>
      ))}
    </span>
  );
}

function readingOf(
  { first, last }: { readonly first: number; readonly last: number },
  { buckets: { at, stepMs }, shown, zone, lineText }: {
    readonly buckets: Buckets;
    readonly shown: readonly TimeSeries[];
    readonly zone: Zone;
    readonly lineText: ((value: number) => string) | undefined;
  },
): string {
  const [start, end] = [Math.min(first, last), Math.max(first, last)];
  const read = shown.map((each) => {
    const part = numbers(each).slice(start, end + 1);
    if (!lineText) return `${sum(part).toLocaleString("en")} ${each.word}`;
    const highest = Math.max(...part);
    return `${each.word} ${highest === 0 ? "–" : lineText(highest)}`;
  });
  const [from, to] = [iso(at[start] ?? 0), iso((at[end] ?? 0) + stepMs)];
  return `${momentText(from, zone, "day").slice("2026-".length)} ${momentText(from, zone, "minute")} – ${
    momentText(to, zone, "minute")}: ${read.join(", ")}`;
}

function numbers({ values }: TimeSeries): readonly number[] {
  return values.map((value) => value ?? 0);
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}
