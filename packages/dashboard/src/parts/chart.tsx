import { useRef, useState, type PointerEvent, type ReactNode, type SVGProps } from "react";
import { classes } from "../style/classes.ts";
import { stackedBars, stepPath, sums } from "./chart-shapes.ts";
import styles from "./chart.module.css";

/** The tone of a series. */
export type Tone = "ok" | "bad" | "wait" | "off";

/** Values over time, one for each bucket, as bars. */
export interface Bars {
  readonly tone: Tone;
  readonly values: readonly number[];
}

/** Values over time as a step line; null leaves a gap. */
export interface Line {
  readonly tone: Tone;
  readonly values: readonly (number | null)[];
}

interface ChartProps {
  readonly bars?: readonly Bars[];
  readonly lines?: readonly Line[];
  readonly width: number;
  readonly height: number;
  readonly gap?: number;
  /** Describes the chart to screen readers; without it a table beside the chart says the same. */
  readonly label?: string;
  /** The bucket that is read out. */
  readonly marked?: number | undefined;
  /** Takes the first and the last bucket that a person dragged over. */
  readonly choose?: (first: number, last: number) => void;
  readonly className?: string | undefined;
}

/** A chart over time: stacked bars and step lines, each bucket as wide as the others. */
export function Chart({
  bars = [], lines = [], width, height, gap = 1, label, marked, choose, className,
}: ChartProps): ReactNode {
  const values = bars.map((each) => each.values);
  const buckets = [...bars, ...lines][0]?.values.length ?? 0;
  const each = width / Math.max(1, buckets);
  const shapes = stackedBars(values, { width, base: height, room: height - 2, gap }, Math.max(1, ...sums(values)));
  const highest = Math.max(1, ...lines.flatMap(({ values }) => values.map((value) => value ?? 0)));
  const { chosen, handlers } = useDrag(buckets, choose);
  return (
    <svg
      viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none"
      className={classes(styles.chart, choose && styles.draggable, className)}
      {...(label === undefined ? { "aria-hidden": true } : { role: "img", "aria-label": label })} {...handlers}
    >
      {chosen && (
        <rect
          className={styles.chosen} x={chosen.first * each} width={(chosen.last - chosen.first + 1) * each}
          height={height}
        />
      )}
      {marked !== undefined && (
        <rect className={styles.marked} x={marked * each} width={each} height={height} />
      )}
      {bars.map(({ tone }, series) => (
        <g key={tone} className={styles[tone]}>
          {shapes[series]?.map((shape, bucket) => shape.height > 0 && <rect key={bucket} {...shape} />)}
        </g>
      ))}
      <line className={styles.base} x2={width} y1={height - 0.5} y2={height - 0.5} />
      {lines.map(({ tone, values }) => (
        <path
          key={tone} className={classes(styles.line, styles[tone])} d={stepPath(values, highest, { width, height })}
        />
      ))}
    </svg>
  );
}

/** The buckets that a person drags over, and the handlers of the chart for that. */
function useDrag(buckets: number, choose: ChartProps["choose"]): {
  readonly chosen: { readonly first: number; readonly last: number } | undefined;
  readonly handlers: SVGProps<SVGSVGElement>;
} {
  const svg = useRef<SVGSVGElement>(null);
  const [drag, setDrag] = useState<{ readonly from: number; readonly to: number }>();
  if (!choose) return { chosen: undefined, handlers: {} };
  const chosen = drag && { first: Math.min(drag.from, drag.to), last: Math.max(drag.from, drag.to) };
  const bucketAt = ({ clientX }: PointerEvent) => {
    const { left, width } = svg.current?.getBoundingClientRect() ?? { left: 0, width: 1 };
    return Math.max(0, Math.min(buckets - 1, Math.floor((clientX - left) / width * buckets)));
  };
  return {
    chosen,
    handlers: {
      ref: svg,
      onPointerDown: (event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        setDrag({ from: bucketAt(event), to: bucketAt(event) });
      },
      onPointerMove: (event) => drag && setDrag({ ...drag, to: bucketAt(event) }),
      onPointerUp: () => {
        setDrag(undefined);
        if (chosen) choose(chosen.first, chosen.last);
      },
      onPointerCancel: () => setDrag(undefined),
    },
  };
}

/** A horizontal bar for a share of a whole, beside its number. */
export function ShareBar({ share }: { readonly share: number }): ReactNode {
  return (
    <svg
      className={classes(styles.share, styles.bad)} viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true"
    >
      <rect width={share * 100} height="8" />
    </svg>
  );
}

/** A small chart of attempts: the failed ones on top of the others. */
export function Sparkline({ good, bad, label }: {
  readonly good: readonly number[]; readonly bad: readonly number[]; readonly label: string;
}): ReactNode {
  return (
    <Chart
      className={styles.sparkline} width={120} height={24} label={label}
      bars={[{ tone: "ok", values: good }, { tone: "bad", values: bad }]}
    />
  );
}
