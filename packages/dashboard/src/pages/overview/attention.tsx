import { useQueries } from "@tanstack/react-query";
import { Link, type LinkProps } from "@tanstack/react-router";
import type { Schemas } from "@webhook-relay/client";
import type { ReactNode } from "react";
import { relayClock } from "../../api/clock.ts";
import { relay } from "../../api/relay.ts";
import { useMay } from "../../app/session.ts";
import { MiddleCut } from "../../parts/copy.tsx";
import { Words } from "../../parts/fact-line.tsx";
import { useTargets } from "../../parts/names.tsx";
import { Failure, Loading } from "../../parts/states.tsx";
import { Glyph } from "../../parts/status.tsx";
import { Ago, Countdown } from "../../parts/time.tsx";
import { dayMs } from "../../parts/times.ts";
import shared from "../../style/shared.module.css";
import { causeText, countText } from "../incidents/incident-words.ts";
import styles from "./overview.module.css";

/** An event that was accepted longer ago and is not settled is shown, ms. */
const oldMs = 300_000;
/** The most groups of refused requests that are counted. */
const groupsAtMost = 100;
/** The most incidents and destinations that are named; their lists have all. */
const namedAtMost = 3;

const openIncidents = { State: "open", Qt: namedAtMost } as const;
const inactiveOnes = { Status: "Inactive", Qt: namedAtMost, CpOrd: "updatedAt", TpOrd: "Desc" } as const;

/** The beginning of the last 24 hours, at a full minute, so that the address of a list stays the same for a while. */
function dayBefore(now: number): string {
  return new Date(Math.floor(now / 60_000) * 60_000 - dayMs).toISOString();
}

/** The problems that need a person, each with a link to its list. */
export function Attention({ everyMs }: { readonly everyMs: number }): ReactNode {
  const allows = useMay();
  const waiting = { Status: ["Pending", "WaitingRetry"], CpOrd: "acceptedAt", TpOrd: "Asc", Qt: 1, View: "summary",
    Test: false, Total: false } as const;
  const queries = useQueries({
    queries: [
      { queryKey: ["listIncidents", openIncidents],
        queryFn: () => relay.listIncidents(openIncidents), refetchInterval: everyMs },
      { queryKey: ["listDestinations", inactiveOnes],
        queryFn: () => relay.listDestinations(inactiveOnes), refetchInterval: everyMs },
      { queryKey: ["countEvents", "given up in 24 h"],
        queryFn: () => relay.countEvents({ Status: ["CriticalFailure"], From: dayBefore(relayClock.now()) }),
        refetchInterval: everyMs },
      { queryKey: ["listEvents", waiting],
        queryFn: () => relay.listEvents({ ...waiting, Status: [...waiting.Status] }), refetchInterval: everyMs },
      { queryKey: ["listRefusals", "24 h"],
        queryFn: () => relay.listRefusals({ From: dayBefore(relayClock.now()), Qt: groupsAtMost, Total: false }),
        refetchInterval: everyMs },
    ],
  });
  const { nameOf } = useTargets();
  const [incidents, inactive, givenUp, oldest, refused] = queries;
  const failed = queries.find(({ error, data }) => error !== null && data === undefined);
  const now = relayClock.now();
  const lines = [
    ...incidentLines(incidents.data, nameOf),
    ...inactiveLines(inactive.data),
    ...givenUpLines(givenUp.data, dayBefore(now), allows("orderReplay")),
    ...oldestLines(oldest.data?.items[0], now),
    ...refusedLines(refused.data),
  ];
  return (
    <section aria-label="Needs a person" className={styles.attention}>
      <h2>Needs a person</h2>
      {failed && <Failure error={failed.error} retry={() => void failed.refetch()} />}
      {lines.length > 0 && <ul>{lines}</ul>}
      {lines.length === 0 && (queries.some(({ isLoading }) => isLoading)
        ? failed === undefined && <Loading lines={3} />
        : <p className={shared.ok}><Glyph tone="ok" /> Nothing needs a person now.</p>)}
    </section>
  );
}

function Line({ tone, list, what, children }: {
  readonly tone: "bad" | "wait" | "off";
  readonly list: LinkProps;
  readonly what: ReactNode;
  readonly children?: ReactNode;
}): ReactNode {
  return (
    <li className={styles.attentionLine} data-tone={tone}>
      <span className={shared[tone]}><Glyph tone={tone} /></span>
      <Link {...list}>{what}</Link>
      <span className={styles.attentionMore}>{children}</span>
    </li>
  );
}

function incidentLines(
  page: Schemas["IncidentPage"] | undefined, nameOf: (id: string) => string,
): readonly ReactNode[] {
  const { items = [], total = 0 } = page ?? {};
  const left = total - items.length;
  return [
    ...items.map(({ id, destinationUrlId, startedAt, failures: [most], attempts, events: { affected } }) => (
      <Line
        key={id} tone="bad" list={{ to: "/incidents/$id", params: { id } }}
        what={<>Failing: <MiddleCut text={nameOf(destinationUrlId)} /></>}
      >
        <span>
          {most && `${causeText(most)}, `}{countText(attempts, "attempt")} failed, {countText(affected, "event")},
          {" "}began <Ago to={startedAt} />
        </span>
      </Line>
    )),
    ...(left > 0 ? [
      <Line
        key="incidents" tone="bad" list={{ to: "/incidents", search: { State: "open" } }}
        what={`${countText(left, "more open incident")}`}
      />,
    ] : []),
  ];
}

function inactiveLines(page: Schemas["DestinationPage"] | undefined): readonly ReactNode[] {
  const total = page?.total ?? 0;
  if (page === undefined || total === 0) return [];
  return [
    <Line
      key="inactive" tone="off" what={`${total} ${total === 1 ? "destination is" : "destinations are"} inactive`}
      list={{ to: "/destinations", search: { Status: "Inactive" } }}
    >
      {page.items.map(({ id, name, url }) => (
        <span key={id}><Link to="/destinations/$id" params={{ id }}><MiddleCut text={name ?? url} /></Link></span>
      ))}
      {total > page.items.length && <span>and {total - page.items.length} more</span>}
    </Line>,
  ];
}

function givenUpLines(
  counted: Schemas["EventTotals"] | undefined, from: string, mayReplay: boolean,
): readonly ReactNode[] {
  const count = counted?.total ?? 0;
  if (count === 0) return [];
  return [
    <Line key="given up" tone="bad" list={{ to: "/events", search: { Status: "CriticalFailure", From: from } }}
      what={`${count} ${count === 1 ? "event" : "events"} of the last 24 h failed`}>
      {mayReplay && <Link to="/operations" search={{ new: "replay", from }}>Replay them…</Link>}
    </Line>,
  ];
}

function oldestLines(event: Schemas["ListedEvent"] | undefined, now: number): readonly ReactNode[] {
  if (event === undefined || now - Date.parse(event.acceptedAt) < oldMs) return [];
  const { id, acceptedAt, nextAttemptAt } = event;
  return [
    <Line
      key="oldest" tone="wait" what="Events wait"
      list={{ to: "/events", search: { Status: "Pending,WaitingRetry" } }}
    >
      <span>the <Link to="/events/$id" params={{ id }}>oldest</Link> was accepted <Ago to={acceptedAt} /></span>
      {nextAttemptAt !== null && <span>it is due <Countdown to={nextAttemptAt} /></span>}
    </Line>,
  ];
}

function refusedLines(page: Schemas["RefusalPage"] | undefined): readonly ReactNode[] {
  if (page === undefined || page.items.length === 0) return [];
  const count = page.items.reduce((sum, group) => sum + group.count, 0);
  const [newest] = page.items;
  const what = `${page.nextCursor === null ? "" : "more than "}${count} `
    + `${count === 1 ? "post was" : "posts were"} refused in the last 24 h`;
  return [
    <Line key="refused" tone="wait" list={{ to: "/", search: { refused: "all" } }} what={what}>
      {newest && <span>the last <Ago to={newest.lastAt} />: {newest.status}, <Words text={newest.reason} /></span>}
    </Line>,
  ];
}
