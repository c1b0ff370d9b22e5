import type { ReactNode } from "react";
import { barShapes, type Bar } from "./bars.ts";
import styles from "./sparkline.module.css";

const size = { width: 120, height: 24 };

/**
 * A small chart of the recent past: a bar for each bucket, its bad part on top. `label` says it in words, for people
 * who do not see it.
 */
export function Sparkline({ bars, label }: { readonly bars: readonly Bar[]; readonly label: string }): ReactNode {
  const { width, height } = size;
  return (
    <svg className={styles.sparkline} viewBox={`0 0 ${width} ${height}`} role="img" aria-label={label}>
      <line x1="0" x2={width} y1={height - 0.5} y2={height - 0.5} className={styles.base} />
      {barShapes(bars, size).map(({ x, width: wide, goodHeight, badHeight }) => (
        <g key={x}>
          <rect className={styles.good} x={x} width={wide} y={height - goodHeight} height={goodHeight} />
          <rect className={styles.failed} x={x} width={wide} y={height - goodHeight - badHeight} height={badHeight} />
        </g>
      ))}
    </svg>
  );
}
