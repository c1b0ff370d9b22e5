import { memo, type ReactNode } from "react";
import { usePreferences } from "../../app/preferences.tsx";
import { between, durationText, momentText } from "../../parts/times.ts";
import type { Axis, OpenCircuit } from "../../story/axis.ts";
import { chapterWords, type Chapter, type ChapterTone, type Telling } from "../../story/chapters.ts";
import { keyOf, type ends } from "../../story/moments.ts";
import { classes } from "../../style/classes.ts";
import shared from "../../style/shared.module.css";
import styles from "./event.module.css";

/** The rows of the bar from top to bottom, px. */
const rows = { folds: 12, middle: 28, circuit: 44, circuitHeight: 16, times: 76, days: 92, height: 96 };

/**
 * The story on a wall clock: attempts as blocks, waits as lines, acts as diamonds, and beneath them the times in which
 * the circuit was open. Long gaps are folded, with their length above. Of a long story only the ends are drawn. The
 * chapters below say the same in words.
 */
export const Bar = memo(function Bar({ axis, ends: { first, between: leftOut, last }, begun, telling, circuit, at }: {
  readonly axis: Axis;
  /** The chapters on the axis, and the number of those between. */
  readonly ends: ReturnType<typeof ends>;
  /** Those that had begun at the chosen moment, as they were then; the others are dimmed. */
  readonly begun: readonly Chapter[];
  readonly telling: Telling;
  readonly circuit: readonly OpenCircuit[];
  /** The chosen moment; undefined for the present. */
  readonly at: string | undefined;
}): ReactNode {
  const then = new Map(begun.map((chapter) => [keyOf(chapter), chapter]));
  const label = `${first.length + leftOut + last.length} chapters in a line; the list below tells them`;
  return (
    <svg className={styles.bar} height={rows.height} role="img" aria-label={label}>
      {axis.folds.map(({ from, to, ms }, index) => (
        <text
          key={index} x={percent((from + to) / 2)} y={rows.folds} textAnchor="middle"
          className={axis.folds.length > 2 ? styles.wideOnly : undefined}
        >
          {durationText(ms)}
        </text>
      ))}
      {axis.placed.map(({ chapter, key, from, to }) => {
        const { tone, title } = chapterWords(then.get(key) ?? chapter, telling);
        return (
          <g key={key} className={toneClass(tone)} opacity={then.has(key) ? 1 : 0.35}>
            <title>{`${title}, ${lengthText(chapter)}`}</title>
            <Shape kind={chapter.kind} from={from} to={to} isFolded={axis.folds.some((fold) =>
              fold.from >= from && fold.to <= to)} />
          </g>
        );
      })}
      {leftOut > 0 && (
        <g className={shared.off}>
          <title>{`${leftOut} chapters between`}</title>
          {[-8, 0, 8].map((by) => (
            <circle
              key={by} cx={percent(axis.placed[first.length]?.from ?? 0)} cy={rows.middle} r={2} fill="currentColor"
              transform={`translate(${by} 0)`}
            />
          ))}
        </g>
      )}
      {circuit.map((open) => <CircuitBand key={open.from} open={open} axis={axis} />)}
      {at !== undefined && (
        <line
          x1={percent(axis.placeOf(at))} x2={percent(axis.placeOf(at))} y1={rows.folds + 4} y2={rows.times - 14}
          className={styles.chosenMoment}
        />
      )}
      <Times axis={axis} />
    </svg>
  );
});

/** The least width of the band of an open circuit. */
const leastBand = 0.006;

function CircuitBand({ open: { from, to }, axis }: { readonly open: OpenCircuit; readonly axis: Axis }): ReactNode {
  const start = Math.min(axis.placeOf(from), 1 - leastBand);
  const width = Math.max(leastBand, (to === null ? 1 : axis.placeOf(to)) - start);
  return (
    <g className={shared.bad}>
      <title>{to === null ? "Circuit open" : `Circuit open for ${durationText(between(from, to))}`}</title>
      <rect
        x={percent(start)} width={percent(width)} y={rows.circuit} height={rows.circuitHeight} rx={3}
        className={styles.circuitBand}
      />
      {width > 0.12 && (
        <text x={percent(start)} dx={6} y={rows.circuit + 12} className={classes(styles.circuitText, width < 0.35
          && styles.wideOnly)}>
          circuit open
        </text>
      )}
    </g>
  );
}

/** The part of the axis that a written time and the space behind it take, on wide screens and on narrow ones. */
const seconds = { wide: 0.1, narrow: 0.23 };
const milliseconds = { wide: 0.14, narrow: 0.32 };
/** Times of a shorter story are written to the millisecond, ms. */
const preciseMs = 10_000;

/** The times below the axis, and the day wherever it changes. */
function Times({ axis }: { readonly axis: Axis }): ReactNode {
  const { zone } = usePreferences();
  const written: { readonly at: string; readonly place: number; readonly isWideOnly: boolean }[] = [];
  const [first, last] = [axis.times[0], axis.times.at(-1)];
  const isPrecise = first && last && between(first.at, last.at) < preciseMs;
  const width = isPrecise ? milliseconds : seconds;
  /** Where the last written time ends. */
  let [wide, narrow] = [0, 0];
  for (const { at, place } of axis.times) {
    if (startOf(place, width.wide) < wide) continue;
    const isWideOnly = startOf(place, width.narrow) < narrow;
    written.push({ at, place, isWideOnly });
    wide = startOf(place, width.wide) + width.wide;
    if (!isWideOnly) narrow = startOf(place, width.narrow) + width.narrow;
  }
  const clock = (at: string) => momentText(at, zone, "time").slice(0, isPrecise ? undefined : "00:00:00".length);
  const days = axis.times.map(({ at, place }) => ({ day: momentText(at, zone, "day"), place }))
    .filter(({ day }, index, all) => day !== all[index - 1]?.day);
  return (
    <g>
      {written.map(({ at, place, isWideOnly }) => (
        <text
          key={at} x={percent(place)} y={rows.times} textAnchor={anchor(place)}
          className={isWideOnly ? styles.wideOnly : undefined}
        >
          {clock(at)}
        </text>
      ))}
      {days.map(({ day, place }) => (
        <text key={day} x={percent(place)} y={rows.days} textAnchor={anchor(place)} className={styles.axisDay}>
          {day}
        </text>
      ))}
    </g>
  );
}

function anchor(place: number): "start" | "middle" | "end" {
  return place < 0.1 ? "start" : place > 0.9 ? "end" : "middle";
}

/** The start of a text of a width, by its anchor. */
function startOf(place: number, width: number): number {
  return place - { start: 0, middle: width / 2, end: width }[anchor(place)];
}

function percent(part: number): string {
  return `${Math.round(part * 10_000) / 100}%`;
}

function Shape({ kind, from, to, isFolded }: {
  readonly kind: Chapter["kind"]; readonly from: number; readonly to: number; readonly isFolded: boolean;
}): ReactNode {
  const { middle } = rows;
  switch (kind) {
    case "attempt":
      return (
        <rect x={percent(from)} width={percent(to - from)} y={middle - 8} height={16} rx={2} fill="currentColor" />
      );
    case "wait":
      return (
        <line
          x1={percent(from)} x2={percent(to)} y1={middle} y2={middle} stroke="currentColor" strokeWidth={3}
          strokeDasharray={isFolded ? "6 4" : undefined}
        />
      );
    default:
      return (
        // Percentages place the inner picture; its own lines are in px.
        <svg x={percent((from + to) / 2)} y={middle} overflow="visible" aria-hidden="true">{signs[kind]}</svg>
      );
  }
}

const cross = <path d="M-5 -5L5 5M5 -5L-5 5" stroke="currentColor" strokeWidth={3} />;
const diamond = <path d="M0 -6L6 0L0 6L-6 0Z" fill="currentColor" />;
const signs: Readonly<Record<Exclude<Chapter["kind"], "attempt" | "wait">, ReactNode>> = {
  accepted: <circle r={5} fill="currentColor" />, exhausted: cross, cancelled: cross, replayed: diamond,
  setting: diamond,
};

function lengthText({ from, to }: Chapter): string {
  return to === null ? "not over yet" : durationText(Math.max(0, between(from, to)));
}

/** The class of the colour of a chapter. */
export function toneClass(tone: ChapterTone): string | undefined {
  return tone === "act" ? styles.act : shared[tone];
}
