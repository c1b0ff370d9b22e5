import { useQuery } from "@tanstack/react-query";
import type { Schemas } from "@webhook-relay/client";
import type { ReactNode } from "react";
import { relay } from "../../api/relay.ts";
import { usePreferences } from "../../app/preferences.tsx";
import { Answered } from "../../parts/states.tsx";
import { Table } from "../../parts/table.tsx";
import { durationText, Moment, momentText } from "../../parts/time.tsx";
import shared from "../../style/shared.module.css";
import styles from "./overview.module.css";

type Point = Schemas["StatisticsPoint"];

/** Sizes of the picture in its own units: a bar's place, the room above the line, and that below it. */
const place = 10;
const above = 80;
const below = 30;

/** What happened in each of the last 24 hours, as bars, with the same as a table. */
export function Traffic({ everyMs }: { readonly everyMs: number }): ReactNode {
  const query = useQuery({
    queryKey: ["getStatistics", { Bucket: "1h" }],
    queryFn: () => relay.getStatistics({ Bucket: "1h" }),
    refetchInterval: everyMs,
  });
  return (
    <section aria-label="Traffic of 24 hours" className={styles.traffic}>
      <h2>Traffic of 24 hours</h2>
      <Answered query={query}>
        {({ series }) => {
          const points = series[0]?.points ?? [];
          return <><Summary points={points} /><Bars points={points} /><Numbers points={points} /></>;
        }}
      </Answered>
    </section>
  );
}

function Summary({ points }: { readonly points: readonly Point[] }): ReactNode {
  const sum = (field: "accepted" | "succeeded" | "exhausted" | "attempts") =>
    points.reduce((total, point) => total + point[field], 0).toLocaleString("en");
  const failures = points.flatMap((point) => Object.values(point.failures)).reduce((total, count) => total + count, 0);
  return (
    <ul className={styles.trafficLegend}>
      <li>{sum("accepted")} accepted</li>
      <li><span className={shared.ok} aria-hidden="true">✓</span> {sum("succeeded")} delivered, above the line</li>
      <li><span className={shared.bad} aria-hidden="true">✕</span> {sum("exhausted")} given up, below it</li>
      <li>{sum("attempts")} attempts, {failures.toLocaleString("en")} of them failed</li>
    </ul>
  );
}

function Bars({ points }: { readonly points: readonly Point[] }): ReactNode {
  const { zone } = usePreferences();
  const most = Math.max(1, ...points.map(({ succeeded }) => succeeded));
  const mostGivenUp = Math.max(most, ...points.map(({ exhausted }) => exhausted));
  const [first, last] = [points[0], points.at(-1)];
  return (
    <figure className={styles.trafficBars}>
      <svg viewBox={`0 0 ${points.length * place} ${above + below}`} preserveAspectRatio="none" aria-hidden="true">
        {points.map(({ at, succeeded, exhausted }, index) => (
          <g key={at}>
            <title>{`${momentText(at, zone)}: ${succeeded} delivered, ${exhausted} given up`}</title>
            <rect className={styles.hour} x={index * place} y={0} width={place} height={above + below} />
            <rect className={styles.delivered} x={index * place + 1} width={place - 2} {...upward(succeeded, most)} />
            <rect className={styles.givenUp} x={index * place + 1} width={place - 2} y={above + 1}
              height={lengthOf(exhausted, mostGivenUp, below - 1)} />
          </g>
        ))}
        <line x1={0} x2={points.length * place} y1={above + 0.5} y2={above + 0.5} />
      </svg>
      <figcaption className={shared.small}>
        {first && <Moment at={first.at} only="time" />}
        <span>at most {most.toLocaleString("en")} delivered in an hour</span>
        {last && <Moment at={last.at} only="time" />}
      </figcaption>
    </figure>
  );
}

function upward(count: number, most: number): { readonly y: number; readonly height: number } {
  const height = lengthOf(count, most, above);
  return { y: above - height, height };
}

/** The length of a bar; a count that is not 0 is always to be seen. */
function lengthOf(count: number, most: number, room: number): number {
  return count === 0 ? 0 : Math.max(2, (count / most) * room);
}

const counts = [
  ["Accepted", "accepted"], ["Delivered", "succeeded"], ["Given up", "exhausted"], ["Cancelled", "cancelled"],
  ["Attempts", "attempts"],
] as const;

function Numbers({ points }: { readonly points: readonly Point[] }): ReactNode {
  return (
    <details>
      <summary>The same as a table</summary>
      <div className={styles.trafficTable} tabIndex={0} role="region" aria-label="Traffic by hour">
        <Table
          rows={points.toReversed()} keyOf={({ at }) => at}
          columns={[
            { head: "Hour from", cell: ({ at }) => <Moment at={at} /> },
            ...counts.map(([head, field]) => ({
              head, kind: "number" as const, cell: (point: Point) => point[field].toLocaleString("en"),
            })),
            {
              head: "p95", kind: "number",
              cell: ({ latencyMs }) => latencyMs === null ? "–" : durationText(latencyMs.p95),
            },
          ]}
        />
      </div>
    </details>
  );
}
