import type { ReactNode } from "react";
import { barShapes, type Bar } from "../../parts/bars.ts";
import { classes } from "../../style/classes.ts";
import styles from "./destination.module.css";
import { stepPath } from "./step-path.ts";

const size = { width: 600, height: 120 };
const box = `0 0 ${size.width} ${size.height}`;

/** A chart over time: the highest value, the drawing, and the two ends of the time. */
function Chart({ label, most, from, to, children }: {
  readonly label: string; readonly most: string; readonly from: ReactNode; readonly to: ReactNode;
  readonly children: ReactNode;
}): ReactNode {
  return (
    <div className={styles.chartFrame}>
      <small className={styles.most}>{most}</small>
      <svg viewBox={box} preserveAspectRatio="none" role="img" aria-label={label}>{children}</svg>
      <small className={styles.ends}><span>{from}</span><span>{to}</span></small>
    </div>
  );
}

/** Bars of what went well and, on top, what failed. */
export function BarChart({ bars, ...frame }: {
  readonly bars: readonly Bar[]; readonly label: string; readonly most: string;
  readonly from: ReactNode; readonly to: ReactNode;
}): ReactNode {
  return (
    <Chart {...frame}>
      {barShapes(bars, size).map(({ x, width, goodHeight, badHeight }) => (
        <g key={x}>
          <rect className={styles.good} x={x} width={width} y={size.height - goodHeight} height={goodHeight} />
          <rect
            className={styles.failed} x={x} width={width} y={size.height - goodHeight - badHeight} height={badHeight}
          />
        </g>
      ))}
    </Chart>
  );
}

/** A step line for each list of values; null leaves a gap. */
export function LineChart({ lines, ...frame }: {
  readonly lines: readonly { readonly name: string; readonly values: readonly (number | null)[] }[];
  readonly label: string; readonly most: string; readonly from: ReactNode; readonly to: ReactNode;
}): ReactNode {
  const most = Math.max(1, ...lines.flatMap(({ values }) => values.map((value) => value ?? 0)));
  return (
    <Chart {...frame}>
      {lines.map(({ name, values }) => (
        <path key={name} className={classes(styles.destinationLine, styles[name])} d={stepPath(values, most, size)} />
      ))}
    </Chart>
  );
}
