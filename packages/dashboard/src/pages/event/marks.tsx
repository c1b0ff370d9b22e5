import type { ReactNode } from "react";
import { usePreferences } from "../../app/preferences.tsx";
import { between, durationText, momentText } from "../../parts/times.ts";
import type { Clock } from "../../story/axis.ts";
import type { Chapter, ChapterTone } from "../../story/chapters.ts";
import shared from "../../style/shared.module.css";
import styles from "./event.module.css";

/** The part of the axis that a written time and the space behind it take, on wide screens and on narrow ones. */
const seconds = { wide: 0.1, narrow: 0.23 };
const milliseconds = { wide: 0.14, narrow: 0.32 };
/** Times of a shorter story are written to the millisecond, ms. */
const preciseMs = 10_000;

/** The days are written this far below the times, px. */
const dayBelow = 16;

/** The times of an axis at a height, and below them the day wherever it changes. */
export function AxisTimes({ clock, y }: { readonly clock: Clock; readonly y: number }): ReactNode {
  const { zone } = usePreferences();
  const written: { readonly at: string; readonly place: number; readonly isWideOnly: boolean }[] = [];
  const [first, last] = [clock.times[0], clock.times.at(-1)];
  const isPrecise = first && last && between(first.at, last.at) < preciseMs;
  const width = isPrecise ? milliseconds : seconds;
  /** Where the last written time ends. */
  let [wide, narrow] = [0, 0];
  for (const { at, place } of clock.times) {
    if (startOf(place, width.wide) < wide) continue;
    const isWideOnly = startOf(place, width.narrow) < narrow;
    written.push({ at, place, isWideOnly });
    wide = startOf(place, width.wide) + width.wide;
    if (!isWideOnly) narrow = startOf(place, width.narrow) + width.narrow;
  }
  const textOf = (at: string) => momentText(at, zone, "time").slice(0, isPrecise ? undefined : "00:00:00".length);
  const days = clock.times.map(({ at, place }) => ({ day: momentText(at, zone, "day"), place }))
    .filter(({ day }, index, all) => day !== all[index - 1]?.day);
  return (
    <g>
      {written.map(({ at, place, isWideOnly }) => (
        <text
          key={at} x={percent(place)} y={y} textAnchor={anchor(place)}
          className={isWideOnly ? styles.wideOnly : undefined}
        >
          {textOf(at)}
        </text>
      ))}
      {days.map(({ day, place }) => (
        <text key={day} x={percent(place)} y={y + dayBelow} textAnchor={anchor(place)} className={styles.axisDay}>
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

/** A part of the axis as a length of SVG. */
export function percent(part: number): string {
  return `${Math.round(part * 10_000) / 100}%`;
}

/** A chapter on an axis, at a height: an attempt as a block, a wait as a line, any other as a sign. */
export function Mark({ kind, from, to, y, folds }: {
  readonly kind: Chapter["kind"]; readonly from: number; readonly to: number; readonly y: number;
  readonly folds: Clock["folds"];
}): ReactNode {
  switch (kind) {
    case "attempt":
      return (
        <rect x={percent(from)} width={percent(to - from)} y={y - 8} height={16} rx={2} fill="currentColor" />
      );
    case "wait":
      return (
        <line
          x1={percent(from)} x2={percent(to)} y1={y} y2={y} stroke="currentColor" strokeWidth={3}
          strokeDasharray={folds.some((fold) => fold.from >= from && fold.to <= to) ? "6 4" : undefined}
        />
      );
    default:
      return (
        // Percentages place the inner picture; its own lines are in px.
        <svg x={percent((from + to) / 2)} y={y} overflow="visible" aria-hidden="true">{signs[kind]}</svg>
      );
  }
}

const cross = <path d="M-5 -5L5 5M5 -5L-5 5" stroke="currentColor" strokeWidth={3} />;
const diamond = <path d="M0 -6L6 0L0 6L-6 0Z" fill="currentColor" />;
const signs: Readonly<Record<Exclude<Chapter["kind"], "attempt" | "wait">, ReactNode>> = {
  accepted: <circle r={5} fill="currentColor" />, exhausted: cross, cancelled: cross, replayed: diamond,
  setting: diamond,
};

/** How long a chapter took, in words. */
export function lengthText({ from, to }: Pick<Chapter, "from" | "to">): string {
  return to === null ? "not over yet" : durationText(Math.max(0, between(from, to)));
}

/** The class of the colour of a chapter. */
export function toneClass(tone: ChapterTone): string | undefined {
  return tone === "act" ? styles.act : shared[tone];
}
