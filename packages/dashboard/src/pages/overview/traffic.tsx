import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import type { Schemas } from "@webhook-relay/client";
import { useState, type ReactNode } from "react";
import { relay } from "../../api/relay.ts";
import { Sparkline } from "../../parts/chart.tsx";
import { DestinationLink } from "../../parts/destinations.tsx";
import { Answered } from "../../parts/states.tsx";
import { Table } from "../../parts/table.tsx";
import { Moment } from "../../parts/time.tsx";
import { TimeChart } from "../../parts/time-chart.tsx";
import { durationText, hourMs } from "../../parts/times.ts";
import { failedOf, figuresOf, successText } from "../destination/figures.ts";
import styles from "./overview.module.css";

type Point = Schemas["StatisticsPoint"];

/** The most destinations that are listed. */
const shownAtMost = 8;

/** The attempts of the last 24 hours: their figures, as bars and as a table. */
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
        {({ series: [all] }) => all && <><Summary total={all.total} /><Attempts points={all.points} /></>}
      </Answered>
      <ByDestination everyMs={everyMs} />
    </section>
  );
}

/** The destinations with the most attempts of the last 24 hours. */
function ByDestination({ everyMs }: { readonly everyMs: number }): ReactNode {
  const { data } = useQuery({
    queryKey: ["getStatistics", { GroupBy: "destination" }],
    queryFn: () => relay.getStatistics({ GroupBy: "destination" }),
    refetchInterval: everyMs,
  });
  const busiest = (data?.series ?? []).map(({ destinationUrlId, points, total }) =>
    ({ id: destinationUrlId ?? "", points, figures: figuresOf(total) }))
    .filter(({ figures }) => figures.attempts > 0)
    .sort(({ figures: one }, { figures: other }) => other.attempts - one.attempts)
    .slice(0, shownAtMost);
  if (busiest.length === 0) return null;
  return (
    <Table
      stacked rows={busiest} keyOf={({ id }) => id} caption={<h3>By destination</h3>}
      columns={[
        { head: "Destination", kind: "main", cell: ({ id }) => <DestinationLink id={id} /> },
        {
          head: "Attempts over time", cell: ({ points, figures: { attempts, failed } }) => (
            <Sparkline
              good={points.map((point) => point.attempts - failedOf(point))} bad={points.map(failedOf)}
              label={`${attempts} attempts in 24 hours, ${failed} failed`}
            />
          ),
        },
        {
          head: "Attempts", label: "Attempts", kind: "number",
          cell: ({ figures: { attempts } }) => attempts.toLocaleString("en"),
        },
        { head: "Success", label: "Success", kind: "number", cell: ({ figures }) => successText(figures) },
        {
          head: "p95", label: "p95", kind: "number",
          cell: ({ figures: { p95 } }) => p95 === null ? "–" : durationText(p95),
        },
      ]}
    />
  );
}

function Summary({ total }: { readonly total: Point }): ReactNode {
  const figures = figuresOf(total);
  const shown = [
    ["Success", successText(figures)], ["p95", figures.p95 === null ? "–" : durationText(figures.p95)],
    ["Attempts", figures.attempts.toLocaleString("en")], ["Accepted events", total.accepted.toLocaleString("en")],
  ] as const;
  return (
    <dl className={styles.figures}>
      {shown.map(([name, value]) => <div key={name}><dt>{name}</dt><dd>{value}</dd></div>)}
    </dl>
  );
}

function Attempts({ points }: { readonly points: readonly Point[] }): ReactNode {
  const navigate = useNavigate();
  const [chosen, setChosen] = useState<readonly string[]>([]);
  const failed = points.map(failedOf);
  return (
    <>
      <TimeChart
        label="Attempts over time" empty="No attempt ended in this time." height={96}
        buckets={{ at: points.map(({ at }) => Date.parse(at)), stepMs: hourMs }}
        series={[
          { name: "succeeded", word: "attempts succeeded", tone: "ok",
            values: points.map(({ attempts }, hour) => attempts - (failed[hour] ?? 0)) },
          { name: "failed", word: "failed", tone: "bad", values: failed },
        ]}
        chosen={chosen}
        toggle={(name) => setChosen(chosen.includes(name) ? chosen.filter((each) => each !== name) : [...chosen, name])}
        choose={(from, to) => void navigate({
          to: "/events", search: { From: new Date(from).toISOString(), To: new Date(to - 1).toISOString() },
        })}
      />
      <Numbers points={points} />
    </>
  );
}

function Numbers({ points }: { readonly points: readonly Point[] }): ReactNode {
  return (
    <details>
      <summary>The same as a table</summary>
      <div className={styles.trafficTable} tabIndex={0} role="region" aria-label="Traffic by hour">
        <Table
          rows={points.toReversed()} keyOf={({ at }) => at}
          columns={[
            { head: "Hour from", cell: ({ at }) => <Moment at={at} only="minute" /> },
            { head: "Accepted events", kind: "number", cell: ({ accepted }) => accepted.toLocaleString("en") },
            { head: "Attempts", kind: "number", cell: ({ attempts }) => attempts.toLocaleString("en") },
            { head: "Failed attempts", kind: "number", cell: (point) => failedOf(point).toLocaleString("en") },
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
