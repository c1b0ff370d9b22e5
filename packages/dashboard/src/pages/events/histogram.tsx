import { useQuery } from "@tanstack/react-query";
import type { Schemas } from "@webhook-relay/client";
import type { ReactNode } from "react";
import { relayClock } from "../../api/clock.ts";
import { relay } from "../../api/relay.ts";
import type { Search } from "../../app/search.ts";
import { useMay, useMe } from "../../app/session.ts";
import { Icon, icons } from "../../parts/icon.tsx";
import { Menu } from "../../parts/menu.tsx";
import { Answered } from "../../parts/states.tsx";
import { Table } from "../../parts/table.tsx";
import { Moment } from "../../parts/time.tsx";
import { TimeChart } from "../../parts/time-chart.tsx";
import shared from "../../style/shared.module.css";
import { bars, scaleOf } from "./buckets.ts";
import styles from "./events.module.css";
import { listed } from "./filters.ts";

type Point = Schemas["StatisticsPoint"];

/** The series: the status that each filters by, its field in a point, its word and its tone. */
const outcomes = [
  ["Succeeded", "succeeded", "delivered", "ok"], ["CriticalFailure", "exhausted", "failed", "bad"],
  ["Cancelled", "cancelled", "cancelled", "off"],
] as const;
/** How often the newest bar is read again, ms. */
const refreshMs = 30_000;
/** The filters that the statistics know. */
const counted: readonly string[] = ["DestinationUrlId", "EventType", "From", "To", "Status"];

/** The outcomes in the chosen time, as bars; to drag over them chooses the time. A table says the same. */
export function Histogram({ filters, change }: {
  readonly filters: Search; readonly change: (changes: Search) => void;
}): ReactNode {
  const may = useMay();
  const { tenant } = useMe();
  const { DestinationUrlId, EventType, From, To } = filters;
  const range = { ...(From !== undefined && { From }), ...(To !== undefined && { To }) };
  const kept = {
    ...(DestinationUrlId !== undefined && { DestinationUrlId }), ...(EventType !== undefined && { EventType }),
  };
  const query = useQuery({
    queryKey: ["getStatistics", { ...kept, ...range }],
    queryFn: async ({ client }) => {
      const began = From !== undefined || !may("getTenant") ? 0 : await client.query({
        queryKey: ["getTenant", { id: tenant.id }, "created"],
        queryFn: async () => Date.parse((await relay.getTenant({ id: tenant.id })).createdAt),
        staleTime: Infinity,
      });
      const { stepMs, ...scale } = scaleOf(range, relayClock.now(), began);
      const { series } = await relay.getStatistics({ ...kept, ...scale });
      return { points: series[0]?.points ?? [], stepMs };
    },
    placeholderData: (before) => before,
    refetchInterval: refreshMs,
  });
  if (!may("getStatistics")) return null;
  return (
    <Answered query={query} loading={<div className={styles.outcomesBone} />}>
      {(answer) => <Shown {...answer} filters={filters} change={change} />}
    </Answered>
  );
}

function Shown({ points, stepMs, filters, change }: {
  readonly points: readonly Point[];
  readonly stepMs: number;
  readonly filters: Search;
  readonly change: (changes: Search) => void;
}): ReactNode {
  const chosen = listed(filters["Status"]);
  const { buckets, bars: all } = bars(points, stepMs);
  const partly = Object.keys(filters).some((name) => !counted.includes(name));
  return (
    <TimeChart
      label="Outcomes over time" buckets={buckets} empty="No event came to an end in this time."
      series={outcomes.map(([name, field, word, tone]) => ({
        name, word, tone, values: all.map((bar) => bar.reduce((sum, point) => sum + point[field], 0)),
      }))}
      chosen={chosen.filter((status) => outcomes.some(([name]) => name === status))}
      toggle={(name) => change({
        Status: (chosen.includes(name) ? chosen.filter((each) => each !== name) : [...chosen, name]).join(","),
      })}
      choose={(from, to) => change({ From: new Date(from).toISOString(), To: new Date(to - 1).toISOString() })}
    >
      {partly && <span className={shared.small}>Counted by destination, type and time only</span>}
      <Menu
        name="Outcomes as a table" className={shared.plain}
        title={<><Icon of={icons.table2} /><span className={shared.hiddenText}>As a table</span></>}
      >
        {() => <Numbers points={points} />}
      </Menu>
    </TimeChart>
  );
}

function Numbers({ points }: { readonly points: readonly Point[] }): ReactNode {
  return (
    <Table
      caption={<span className={shared.hiddenText}>Outcomes over time, without empty times</span>}
      className={styles.histogramTable}
      rows={points.filter(({ accepted, attempts }) => accepted + attempts > 0).toReversed()} keyOf={({ at }) => at}
      columns={[
        { head: "From", cell: ({ at }) => <Moment at={at} only="minute" /> },
        { head: "Accepted", kind: "number", cell: ({ accepted }) => accepted },
        { head: "Delivered", kind: "number", cell: ({ succeeded }) => succeeded },
        { head: "Failed", kind: "number", cell: ({ exhausted }) => exhausted },
        { head: "Cancelled", kind: "number", cell: ({ cancelled }) => cancelled },
      ]}
    />
  );
}
