import { memo, type ReactNode } from "react";
import { between, durationText } from "../../parts/times.ts";
import type { Axis, OpenCircuit } from "../../story/axis.ts";
import { chapterWords, type Chapter, type Telling } from "../../story/chapters.ts";
import { keyOf, type ends } from "../../story/moments.ts";
import { classes } from "../../style/classes.ts";
import shared from "../../style/shared.module.css";
import styles from "./event.module.css";
import { AxisTimes, lengthText, Mark, percent, toneClass } from "./marks.tsx";

/** The rows of the bar from top to bottom, px. */
const rows = { folds: 12, middle: 28, circuit: 44, circuitHeight: 16, times: 76, height: 96 };

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
            <Mark kind={chapter.kind} from={from} to={to} y={rows.middle} folds={axis.folds} />
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
      <AxisTimes clock={axis} y={rows.times} />
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
