import { useQuery } from "@tanstack/react-query";
import type { Schemas } from "@webhook-relay/client";
import type { ReactNode } from "react";
import { relay } from "../../api/relay.ts";
import { usePreferences } from "../../app/preferences.tsx";
import { Chart } from "../../parts/chart.tsx";
import { Answered } from "../../parts/states.tsx";
import { Glyph } from "../../parts/status.tsx";
import { Table } from "../../parts/table.tsx";
import { Moment } from "../../parts/time.tsx";
import { durationText, momentText } from "../../parts/times.ts";
import shared from "../../style/shared.module.css";
import styles from "./overview.module.css";

type Point = Schemas["StatisticsPoint"];

/** The deliveries of the last 24 hours, as bars and as a table. */
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
          const total = series[0]?.total;
          return <>{total && <Summary total={total} />}<Bars points={points} /><Numbers points={points} /></>;
        }}
      </Answered>
    </section>
  );
}

function Summary({ total }: { readonly total: Point }): ReactNode {
  const sum = (field: "accepted" | "succeeded" | "exhausted" | "attempts") => total[field].toLocaleString("en");
  const failures = Object.values(total.failures).reduce((all, count) => all + count, 0);
  return (
    <ul className={styles.trafficLegend}>
      <li>{sum("accepted")} accepted</li>
      <li><span className={shared.ok}><Glyph tone="ok" /></span> {sum("succeeded")} delivered, above the line</li>
      <li><span className={shared.bad}><Glyph tone="bad" /></span> {sum("exhausted")} failed, below it</li>
      <li>{sum("attempts")} attempts, {failures.toLocaleString("en")} of them failed</li>
    </ul>
  );
}

function Bars({ points }: { readonly points: readonly Point[] }): ReactNode {
  const { zone } = usePreferences();
  const most = Math.max(1, ...points.map(({ succeeded }) => succeeded));
  const [first, last] = [points[0], points.at(-1)];
  return (
    <figure className={styles.trafficBars}>
      <Chart
        width={points.length * 10} height={80} below={30} gap={2}
        bars={[
          { tone: "ok", values: points.map(({ succeeded }) => succeeded) },
          { tone: "bad", values: points.map(({ exhausted }) => exhausted), direction: "down" },
        ]}
        titles={points.map(({ at, succeeded, exhausted }) =>
          `${momentText(at, zone)}: ${succeeded} delivered, ${exhausted} failed`)}
      />
      <figcaption className={shared.small}>
        {first && <Moment at={first.at} only="time" />}
        <span>at most {most.toLocaleString("en")} delivered in an hour</span>
        {last && <Moment at={last.at} only="time" />}
      </figcaption>
    </figure>
  );
}

const counts = [
  ["Accepted", "accepted"], ["Delivered", "succeeded"], ["Failed", "exhausted"], ["Cancelled", "cancelled"],
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
