import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useSearch } from "@tanstack/react-router";
import type { Schemas } from "@webhook-relay/client";
import { useState, type ReactNode } from "react";
import { relay } from "../../api/relay.ts";
import { useChange } from "../../app/navigation.tsx";
import { useMay } from "../../app/session.ts";
import { Sparkline } from "../../parts/chart.tsx";
import { MiddleCut } from "../../parts/copy.tsx";
import { fieldsOf } from "../../parts/fields.ts";
import { Listed, usePages } from "../../parts/listed.tsx";
import { Page } from "../../parts/page.tsx";
import { useQuestion } from "../../parts/questions.tsx";
import { Empty, NoRight, textOf } from "../../parts/states.tsx";
import { actsHead, Table } from "../../parts/table.tsx";
import { durationText } from "../../parts/times.ts";
import { NewDestination } from "../../portal/new-destination.tsx";
import { usePortalSession } from "../../portal/portal-session.ts";
import shared from "../../style/shared.module.css";
import { failedOf, figuresOf, successText } from "../destination/figures.ts";
import { switchOff } from "../destination/switch-off.tsx";
import { TrafficStatus } from "../destination/traffic-status.tsx";
import { CreateDestination } from "./create-destination.tsx";
import styles from "./destinations.module.css";

const everyMs = 15_000;
const statuses = ["Active", "Inactive", "Suspended"] as const;
const words = { Active: "active", Inactive: "switched off", Suspended: "circuit open" };

/** The destinations, the newest first, with their last 24 hours. */
export function DestinationsPage(): ReactNode {
  const search = useSearch({ from: "/signed-in/destinations" });
  const change = useChange();
  const mayDo = useMay();
  const chosen = statuses.find((status) => status === search["Status"]);
  const filter = chosen === undefined ? {} : { Status: chosen };
  const { text = "", sort } = search;
  const order = sort === "url" ? { CpOrd: "url" } as const : { CpOrd: "createdAt", TpOrd: "Desc" } as const;
  const pages = usePages({
    queryKey: ["listDestinations", { ...filter, ...order, text }], size: 25, refetchInterval: everyMs,
    ask: async (page) => text === "" ? relay.listDestinations({ ...filter, ...page, ...order })
      : { items: await found(text, chosen), nextCursor: null },
  });
  const statistics = useQuery({
    queryKey: ["getStatistics", { GroupBy: "destination" }],
    queryFn: () => relay.getStatistics({ GroupBy: "destination" }),
    refetchInterval: everyMs,
  });
  const series = new Map(statistics.data?.series.map((one) => [one.destinationUrlId, one]));
  const create = () => change({ new: "yes" });
  const session = usePortalSession();
  const mayCreate = mayDo("createDestination") && session?.senders.length !== 0;
  const New = session ? NewDestination : CreateDestination;
  return (
    <Page
      title="Destinations" wide
      acts={mayCreate && <button type="button" className={shared.primary} onClick={create}>New destination…</button>}
    >
      <form
        className={styles.listFilter} onSubmit={(event) => {
          event.preventDefault();
          change({ text: fieldsOf(event.currentTarget)["text"]?.trim() });
        }}
      >
        {mayDo("lookup") && (
          <input
            key={text} type="search" name="text" defaultValue={text} aria-label="Find by name or a part of the URL"
            placeholder="Name or part of the URL" maxLength={200}
          />
        )}
        <label>Status <select value={chosen ?? ""} onChange={({ target }) => change({ Status: target.value })}>
          <option value="">all</option>
          {statuses.map((status) => <option key={status} value={status}>{words[status]}</option>)}
        </select></label>
        {text === "" && (
          <label>Order <select value={sort ?? ""} onChange={({ target }) => change({ sort: target.value })}>
            <option value="">newest first</option>
            <option value="url">by URL</option>
          </select></label>
        )}
      </form>
      <Listed
        pages={pages}
        empty={chosen === undefined && text === "" ? (
          <Empty act={mayCreate && <button type="button" onClick={create}>New destination…</button>}>
            A destination is an address to which the relay delivers events. There is none yet.
          </Empty>
        ) : (
          <Empty act={<button type="button" onClick={() => change({ Status: "", text: "" })}>Show all</button>}>
            No destination is {[chosen && words[chosen], text && `found by “${text}”`].filter(Boolean).join(" and ")}.
          </Empty>
        )}
      >
        {(items) => <Destinations items={items} series={series} />}
      </Listed>
      {!mayCreate && <NoRight>A Developer, an Admin or the Owner creates and switches destinations.</NoRight>}
      {search["new"] !== undefined && mayCreate && (
        <New close={() => change({ new: undefined }, { replace: true })} />
      )}
    </Page>
  );
}

/** The destinations with a text in their names or URLs, the best twenty. */
async function found(text: string, status: string | undefined): Promise<readonly Schemas["Destination"][]> {
  const { items } = await relay.lookup({ Q: text });
  const ids = items.flatMap(({ kind, id }) => (kind === "destination" ? [id] : []));
  const all = await Promise.all(ids.map((id) => relay.getDestination({ id })));
  return status === undefined ? all : all.filter((each) => each.status === status);
}

function Destinations({ items, series }: {
  readonly items: readonly Schemas["Destination"][];
  readonly series: ReadonlyMap<string | null, Schemas["StatisticsSeries"]>;
}): ReactNode {
  const rows = items.map((item) => {
    const { points = [], total } = series.get(item.id) ?? {};
    return { ...item, points, figures: figuresOf(total) };
  });
  return (
    <Table
      stacked rows={rows} keyOf={({ id }) => id}
      columns={[
        {
          head: "Destination", kind: "main",
          cell: ({ id, name, url }) => (
            <>
              <Link to="/destinations/$id" params={{ id }} aria-label={name ?? url}>
                <MiddleCut text={name ?? url} />
              </Link>
              {name !== null && <small><MiddleCut text={url} /></small>}
            </>
          ),
        },
        {
          head: "Status", className: styles.stateCell,
          cell: (destination) => (
            <span className={styles.state}>
              <TrafficStatus destination={destination} points={destination.points} />
            </span>
          ),
        },
        {
          head: "Attempts, 24 h", cell: ({ points, figures: { attempts, failed } }) => (
            <Sparkline
              good={points.map((point) => point.attempts - failedOf(point))} bad={points.map(failedOf)}
              label={`${attempts} attempts in 24 hours, ${failed} failed`}
            />
          ),
        },
        { head: "Success", label: "Success", kind: "number", cell: ({ figures }) => successText(figures) },
        {
          head: "p95", label: "p95", kind: "number",
          cell: ({ figures: { p95 } }) => p95 === null ? "–" : durationText(p95),
        },
        {
          head: "Waiting", label: "Waiting", kind: "number",
          cell: ({ id, health }) => <Waiting id={id} waiting={health.waiting} />,
        },
        { head: actsHead, kind: "acts", cell: (item) => <Switch item={item} /> },
      ]}
    />
  );
}

/** How many events wait for an attempt at a destination. */
function Waiting({ id, waiting }: { readonly id: string; readonly waiting: number | null }): ReactNode {
  if (waiting === null) return "–";
  if (waiting === 0) return 0;
  return (
    <Link
      to="/events" search={{ DestinationUrlId: id, Status: "Pending,WaitingRetry" }} aria-label={`${waiting} waiting`}
    >
      {waiting}
    </Link>
  );
}

function Switch({ item: { id, name, url, status } }: { readonly item: Schemas["Destination"] }): ReactNode {
  const queries = useQueryClient();
  const mayDo = useMay();
  const [problem, setProblem] = useState("");
  const isOff = status === "Inactive";
  const { ask, dialog } = useQuestion();
  const turn = async () => {
    if (!isOff && !await ask(switchOff(name ?? url))) return;
    try {
      await relay.updateDestination({ id }, { status: isOff ? "active" : "inactive" });
      await queries.invalidateQueries({ queryKey: ["listDestinations"] });
      setProblem("");
    } catch (error) {
      setProblem(textOf(error));
    }
  };
  if (!mayDo("updateDestination")) return null;
  const does = isOff ? "Switch on" : "Switch off…";
  return (
    <>
      <button type="button" aria-label={`${does}: ${name ?? url}`} onClick={() => void turn()}>{does}</button>
      {problem !== "" && <span className={shared.problem} role="alert">{problem}</span>}
      {dialog}
    </>
  );
}
