import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import type { Schemas } from "@webhook-relay/client";
import { useState, type ComponentProps, type ReactNode } from "react";
import { relayClock } from "../../api/clock.ts";
import { relay } from "../../api/relay.ts";
import { useChange } from "../../app/navigation.tsx";
import { ShareBar } from "../../parts/chart.tsx";
import { Tabs } from "../../parts/page.tsx";
import { Answered, Empty } from "../../parts/states.tsx";
import { Table } from "../../parts/table.tsx";
import { Ago, Countdown, Moment } from "../../parts/time.tsx";
import { TimeChart } from "../../parts/time-chart.tsx";
import { dayMs, durationText, hourMs, minuteMs } from "../../parts/times.ts";
import { reasonText } from "../incidents/incident-words.ts";
import styles from "./destination.module.css";
import { failedOf, figuresOf, successText, type Figures } from "./figures.ts";

/** The times to choose from: how long, and in which buckets. */
const ranges = {
  "1h": { title: "1 h", ms: hourMs, Bucket: "1m" },
  "24h": { title: "24 h", ms: 24 * hourMs, Bucket: "1h" },
  "7d": { title: "7 d", ms: 7 * 24 * hourMs, Bucket: "1h" },
  "30d": { title: "30 d", ms: 30 * 24 * hourMs, Bucket: "1d" },
} as const;
const titles = Object.fromEntries(Object.entries(ranges).map(([range, { title }]) => [range, title]));
const percentiles = ["p50", "p95", "p99"] as const;
/** A destination younger than this is shown minute by minute. */
const youngMs = 3 * hourMs;
const stepsMs = { "1m": minuteMs, "5m": 5 * minuteMs, "1h": hourMs, "1d": dayMs };
/** The percentiles as a chart draws them. */
const percentileTones = [["p50", "ok"], ["p95", "wait"], ["p99", "bad"]] as const;

type Points = readonly Schemas["StatisticsPoint"][];

/** How deliveries are doing now; attempts, failures by reason, and how long attempts took, over a time to choose. */
export function Health({ destination: { id, createdAt, health } }: {
  readonly destination: Schemas["Destination"];
}): ReactNode {
  const search = useSearch({ from: "/signed-in/destinations/$id" });
  const change = useChange();
  const range = rangeOf(search["range"]);
  const { ms, Bucket } = ranges[range];
  const query = useQuery({
    queryKey: ["getStatistics", { DestinationUrlId: id, range }],
    queryFn: () => {
      const ageMs = Math.max(hourMs, relayClock.now() - Date.parse(createdAt));
      const shownMs = Math.min(ms, ageMs);
      const From = new Date(relayClock.now() - shownMs).toISOString();
      return relay.getStatistics({ DestinationUrlId: id, Bucket: shownMs < youngMs ? "1m" : Bucket, From });
    },
    refetchInterval: 15_000,
  });
  return (
    <section aria-label="Health" className={styles.destinationSection}>
      <Now id={id} health={health} />
      <Tabs
        kind="choice" label="Time" tabs={titles} chosen={range} choose={(chosen) => change({ range: chosen })}
      />
      <Answered query={query}>
        {({ bucket, series }) => {
          const points = series[0]?.points ?? [];
          const figures = figuresOf(series[0]?.total);
          if (figures.attempts === 0) return <Empty>No attempt ended in this time. Test events do not count.</Empty>;
          return (
            <>
              <Totals figures={figures} />
              <Attempts id={id} points={points} stepMs={stepsMs[bucket]} />
              <Reasons figures={figures} />
              <Latency id={id} points={points} stepMs={stepsMs[bucket]} />
            </>
          );
        }}
      </Answered>
    </section>
  );
}

function Now({ id, health }: Pick<Schemas["Destination"], "id" | "health">): ReactNode {
  const { waiting, inFlight, oldestDueAt, lastSuccessAt, lastFailureAt } = health;
  return (
    <dl className={styles.destinationTotals}>
      <div>
        <dt>Waiting</dt>
        <dd>
          {waiting === 0 ? waiting : (
            <Link to="/events" search={{ DestinationUrlId: id, Status: "Pending,WaitingRetry" }}>{waiting ?? "–"}</Link>
          )}
        </dd>
      </div>
      <div><dt>In flight</dt><dd>{inFlight ?? "–"}</dd></div>
      <div><dt>Oldest is due</dt><dd>{oldestDueAt === null ? "–" : <Countdown to={oldestDueAt} />}</dd></div>
      <div><dt>Last success</dt><dd>{lastSuccessAt === null ? "–" : <Ago to={lastSuccessAt} />}</dd></div>
      <div><dt>Last failure</dt><dd>{lastFailureAt === null ? "–" : <Ago to={lastFailureAt} />}</dd></div>
    </dl>
  );
}

function rangeOf(text: string | undefined): keyof typeof ranges {
  return text !== undefined && Object.hasOwn(ranges, text) ? text as keyof typeof ranges : "24h";
}

function Totals({ figures }: { readonly figures: Figures }): ReactNode {
  return (
    <dl className={styles.destinationTotals}>
      <div><dt>Attempts</dt><dd>{figures.attempts}</dd></div>
      <div><dt>Failed</dt><dd>{figures.failed}</dd></div>
      <div><dt>Success</dt><dd>{successText(figures)}</dd></div>
      <div>
        <dt>p95</dt><dd>{figures.p95 === null ? "–" : durationText(figures.p95)}</dd>
      </div>
    </dl>
  );
}

interface Shown {
  /** The destination. */
  readonly id: string;
  readonly points: Points;
  /** The length of a bucket. */
  readonly stepMs: number;
}

function Attempts(shown: Shown): ReactNode {
  const { points } = shown;
  const failed = points.map(failedOf);
  const succeeded = points.map(({ attempts }, place) => attempts - (failed[place] ?? 0));
  return (
    <figure>
      <h2>Attempts</h2>
      <OverTime
        {...shown} label="Attempts over time" empty="No attempt ended in this time."
        series={[
          { name: "succeeded", word: "succeeded", tone: "ok", values: succeeded },
          { name: "failed", word: "failed", tone: "bad", values: failed },
        ]}
      />
      <Twin heads={["Succeeded", "Failed"]} rows={points.map(({ at, attempts }, place) => attempts === 0 ? null : {
        at, cells: [succeeded[place], failed[place]],
      })}
      />
    </figure>
  );
}

function Latency(shown: Shown): ReactNode {
  const { points } = shown;
  return (
    <figure>
      <h2>How long attempts took</h2>
      <OverTime
        {...shown} label="Percentiles over time" empty="No attempt has a known duration." lineText={durationText}
        series={percentileTones.map(([name, tone]) => (
          { name, word: name, tone, values: points.map(({ latencyMs }) => latencyMs?.[name] ?? null) }
        ))}
      />
      <Twin heads={percentiles} rows={points.map(({ at, latencyMs }) => latencyMs === null ? null : {
        at, cells: percentiles.map((name) => durationText(latencyMs[name])),
      })}
      />
    </figure>
  );
}

/** A chart; a chosen time leads to the events of the destination at that time. */
function OverTime({ id, points, stepMs, ...chart }: Shown
  & Omit<ComponentProps<typeof TimeChart>, "buckets" | "chosen" | "toggle" | "choose">): ReactNode {
  const navigate = useNavigate();
  const [chosen, setChosen] = useState<readonly string[]>([]);
  return (
    <TimeChart
      {...chart} height={120} buckets={{ at: points.map(({ at }) => Date.parse(at)), stepMs }} chosen={chosen}
      toggle={(name) => setChosen(chosen.includes(name) ? chosen.filter((each) => each !== name) : [...chosen, name])}
      choose={(from, to) => void navigate({
        to: "/events",
        search: {
          DestinationUrlId: id, From: new Date(from).toISOString(), To: new Date(to - 1).toISOString(),
        },
      })}
    />
  );
}

function Reasons({ figures: { reasons, failed } }: { readonly figures: Figures }): ReactNode {
  if (failed === 0) return null;
  return (
    <Table
      caption={<h2>Failures by reason</h2>} rows={reasons} keyOf={([reason]) => reason}
      columns={[
        { head: "Reason", cell: ([reason]) => reasonText(reason) },
        { head: "Attempts", kind: "number", cell: ([, count]) => count },
        {
          head: "Share", cell: ([, count]) => (
            <>
              <ShareBar share={count / failed} />{" "}
              {Math.round(count / failed * 100)} %
            </>
          ),
        },
      ]}
    />
  );
}

/** The numbers of a chart as a table; empty buckets are left out. */
function Twin({ heads, rows }: {
  readonly heads: readonly string[];
  readonly rows: readonly ({ readonly at: string; readonly cells: readonly ReactNode[] } | null)[];
}): ReactNode {
  return (
    <details>
      <summary>As a table</summary>
      <Table
        rows={rows.filter((row) => row !== null)} keyOf={({ at }) => at}
        columns={[
          { head: "From", cell: ({ at }) => <Moment at={at} /> },
          ...heads.map((head, place) => ({
            head, kind: "number" as const,
            cell: ({ cells }: { readonly cells: readonly ReactNode[] }) => cells[place],
          })),
        ]}
      />
    </details>
  );
}
