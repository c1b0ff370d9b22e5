import { useQuery } from "@tanstack/react-query";
import type { Schemas } from "@webhook-relay/client";
import { useRef, useState, type PointerEvent, type ReactNode } from "react";
import { relayClock } from "../../api/clock.ts";
import { relay } from "../../api/relay.ts";
import type { Search } from "../../app/search.ts";
import { useMay } from "../../app/session.ts";
import { Answered, Loading } from "../../parts/states.tsx";
import { Table } from "../../parts/table.tsx";
import { Moment } from "../../parts/time.tsx";
import { classes } from "../../style/classes.ts";
import shared from "../../style/shared.module.css";
import { bucketMs, scaleOf } from "./buckets.ts";
import styles from "./events.module.css";

type Statistics = Schemas["Statistics"];
type Point = Schemas["StatisticsPoint"];

const outcomes = [
  ["succeeded", "✓ delivered", "ok"], ["exhausted", "✕ given up", "bad"], ["cancelled", "— cancelled", "off"],
] as const;
const barPx = 10;
const heightPx = 60;

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
    <section aria-label="Outcomes over time">
      <Answered query={query} loading={<Loading lines={3} />}>
        {(statistics) => (
          <>
            <Bars statistics={statistics} choose={(from, to) => change({ From: from, To: to })} />
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

function Bars({ statistics, choose }: {
  readonly statistics: Statistics; readonly choose: (from: string, to: string) => void;
}): ReactNode {
  const points = pointsOf(statistics);
  const svg = useRef<SVGSVGElement>(null);
  const [drag, setDrag] = useState<{ readonly from: number; readonly to: number }>();
  const heights = points.map(({ succeeded, exhausted, cancelled }) => succeeded + exhausted + cancelled);
  const highest = Math.max(1, ...heights);
  const placeOf = ({ clientX }: PointerEvent) => {
    const { left, width } = svg.current?.getBoundingClientRect() ?? { left: 0, width: 1 };
    return Math.max(0, Math.min(points.length - 1, Math.floor((clientX - left) / width * points.length)));
  };
  const end = () => {
    setDrag(undefined);
    if (!drag) return;
    const first = points[Math.min(drag.from, drag.to)];
    const last = points[Math.max(drag.from, drag.to)];
    if (first && last) choose(first.at, new Date(Date.parse(last.at) + bucketMs[statistics.bucket] - 1).toISOString());
  };
  return (
    <svg
      ref={svg} className={styles.outcomeBars} viewBox={`0 0 ${points.length * barPx} ${heightPx}`}
      preserveAspectRatio="none"
      aria-hidden="true"
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        setDrag({ from: placeOf(event), to: placeOf(event) });
      }}
      onPointerMove={(event) => drag && setDrag({ ...drag, to: placeOf(event) })}
      onPointerUp={end} onPointerCancel={() => setDrag(undefined)}
    >
      {drag && (
        <rect
          className={styles.dragged} x={Math.min(drag.from, drag.to) * barPx} y={0} height={heightPx}
          width={(Math.abs(drag.to - drag.from) + 1) * barPx}
        />
      )}
      {points.map((point, index) => <Bar key={point.at} point={point} x={index * barPx} highest={highest} />)}
    </svg>
  );
}

function Bar({ point, x, highest }: {
  readonly point: Point; readonly x: number; readonly highest: number;
}): ReactNode {
  let top = heightPx;
  return outcomes.map(([name, , tone]) => {
    if (point[name] === 0) return null;
    // Few failures among many successes stay visible.
    const height = Math.max(2, point[name] / highest * (heightPx - 6));
    top -= height;
    return <rect key={name} className={styles[tone]} x={x + 1} y={top} width={barPx - 2} height={height} />;
  });
}

function Legend({ statistics, partly }: { readonly statistics: Statistics; readonly partly: boolean }): ReactNode {
  const points = pointsOf(statistics);
  const sum = (name: keyof Pick<Point, "accepted" | "succeeded" | "exhausted" | "cancelled">) =>
    points.reduce((all, point) => all + point[name], 0);
  const busy = points.filter(({ accepted, attempts }) => accepted + attempts > 0);
  return (
    <div className={classes(styles.legend, shared.small)}>
      <span><Moment at={statistics.from} /> – <Moment at={statistics.to} /></span>
      {outcomes.map(([name, words, tone]) => <span key={name} className={shared[tone]}>{words} {sum(name)}</span>)}
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
              { head: "Given up", kind: "number", cell: ({ exhausted }) => exhausted },
              { head: "Cancelled", kind: "number", cell: ({ cancelled }) => cancelled },
            ]}
          />
        </div>
      </details>
    </div>
  );
}
