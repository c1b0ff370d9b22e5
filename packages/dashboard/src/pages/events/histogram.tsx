import { useQuery } from "@tanstack/react-query";
import type { Schemas } from "@webhook-relay/client";
import type { ReactNode } from "react";
import { relayClock } from "../../api/clock.ts";
import { relay } from "../../api/relay.ts";
import type { Search } from "../../app/search.ts";
import { useMay } from "../../app/session.ts";
import { Chart } from "../../parts/chart.tsx";
import { Answered, Loading } from "../../parts/states.tsx";
import { Glyph } from "../../parts/status.tsx";
import { Table } from "../../parts/table.tsx";
import { Moment } from "../../parts/time.tsx";
import { classes } from "../../style/classes.ts";
import shared from "../../style/shared.module.css";
import { bucketMs, scaleOf } from "./buckets.ts";
import styles from "./events.module.css";

type Statistics = Schemas["Statistics"];
type Point = Schemas["StatisticsPoint"];

const outcomes = [
  ["succeeded", "delivered", "ok"], ["exhausted", "failed", "bad"], ["cancelled", "cancelled", "off"],
] as const;

/** The outcomes over time, as bars; to drag over them chooses the time. A table says the same. */
export function Histogram({ filters, change }: {
  readonly filters: Search; readonly change: (changes: Search) => void;
}): ReactNode {
  const may = useMay();
  const { DestinationUrlId, EventType, From, To, ...unknown } = filters;
  const range = { ...(From !== undefined && { From }), ...(To !== undefined && { To }) };
  const kept = {
    ...(DestinationUrlId !== undefined && { DestinationUrlId }), ...(EventType !== undefined && { EventType }),
  };
  const query = useQuery({
    queryKey: ["getStatistics", { ...kept, ...range }],
    queryFn: () => relay.getStatistics({ ...kept, ...scaleOf(range, relayClock.now()) }),
    placeholderData: (before) => before,
    staleTime: 60_000,
  });
  if (!may("getStatistics")) return null;
  return (
    <section aria-label="Outcomes over time" className={styles.outcomes}>
      <Answered query={query} loading={<Loading lines={3} />}>
        {(statistics) => (
          <>
            <Bars statistics={statistics} change={change} />
            <Legend statistics={statistics} partly={Object.keys(unknown).length > 0} />
          </>
        )}
      </Answered>
    </section>
  );
}

function pointsOf({ series }: Statistics): readonly Point[] {
  return series[0]?.points ?? [];
}

function Bars({ statistics, change }: {
  readonly statistics: Statistics; readonly change: (changes: Search) => void;
}): ReactNode {
  const points = pointsOf(statistics);
  return (
    <Chart
      className={styles.outcomeBars} width={points.length * 10} height={60} gap={2}
      bars={outcomes.map(([name, , tone]) => ({ tone, values: points.map((point) => point[name]) }))}
      choose={(first, last) => {
        const [from, to] = [points[first]?.at, points[last]?.at];
        if (from === undefined || to === undefined) return;
        change({ From: from, To: new Date(Date.parse(to) + bucketMs[statistics.bucket] - 1).toISOString() });
      }}
    />
  );
}

function Legend({ statistics, partly }: { readonly statistics: Statistics; readonly partly: boolean }): ReactNode {
  const points = pointsOf(statistics);
  const sum = (name: keyof Pick<Point, "accepted" | "succeeded" | "exhausted" | "cancelled">) =>
    points.reduce((all, point) => all + point[name], 0);
  const busy = points.filter(({ accepted, attempts }) => accepted + attempts > 0);
  return (
    <div className={classes(styles.legend, shared.small)}>
      <span><Moment at={statistics.from} /> – <Moment at={statistics.to} /></span>
      {outcomes.map(([name, words, tone]) => (
        <span key={name} className={shared[tone]}><Glyph tone={tone} /> {sum(name)} {words}</span>
      ))}
      <span>{sum("accepted")} accepted</span>
      {partly && <span>Only the destination, the type and the time count here.</span>}
      <details>
        <summary>As a table</summary>
        <div className={styles.histogramTable}>
          <Table
            caption={(
              <span className={shared.hiddenText}>Outcomes in each {statistics.bucket}, without empty ones</span>
            )}
            rows={busy} keyOf={({ at }) => at}
            columns={[
              { head: "From", cell: ({ at }) => <Moment at={at} /> },
              { head: "Accepted", kind: "number", cell: ({ accepted }) => accepted },
              { head: "Delivered", kind: "number", cell: ({ succeeded }) => succeeded },
              { head: "Failed", kind: "number", cell: ({ exhausted }) => exhausted },
              { head: "Cancelled", kind: "number", cell: ({ cancelled }) => cancelled },
            ]}
          />
        </div>
      </details>
    </div>
  );
}
