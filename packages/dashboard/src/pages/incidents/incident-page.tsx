import { useQuery } from "@tanstack/react-query";
import { Link, useParams, type LinkProps } from "@tanstack/react-router";
import type { Schemas } from "@webhook-relay/client";
import type { ReactNode } from "react";
import { relay } from "../../api/relay.ts";
import { changesIn } from "../../parts/changes.ts";
import { DestinationLink } from "../../parts/destinations.tsx";
import { Diff } from "../../parts/diff.tsx";
import { FactLine } from "../../parts/fact-line.tsx";
import type { Fact } from "../../parts/fact-words.ts";
import { useTargets } from "../../parts/names.tsx";
import { Page } from "../../parts/page.tsx";
import { Answered, useIsSlow } from "../../parts/states.tsx";
import { Table } from "../../parts/table.tsx";
import { Moment, useNow } from "../../parts/time.tsx";
import { classes } from "../../style/classes.ts";
import shared from "../../style/shared.module.css";
import { beforeText, causeText, hostOf, lastedText, type Incident } from "./incident-words.ts";
import { IncidentState } from "./incidents-page.tsx";
import styles from "./incidents.module.css";
import { Repair } from "./repair.tsx";

const everyMs = 3_000;

/** An incident: its causes, its events, what changed before, and the steps that repair its destination. */
export function IncidentPage(): ReactNode {
  const { id } = useParams({ from: "/signed-in/incidents/$id" });
  const { nameOf } = useTargets();
  const query = useQuery({
    queryKey: ["getIncident", { id }], queryFn: () => relay.getIncident({ id }), refetchInterval: everyMs,
  });
  const title = query.data ? `Incident: ${hostOf(nameOf(query.data.destinationUrlId))}` : "Incident";
  return (
    <Page title={title} back={<Link to="/incidents">Incidents</Link>}>
      <Answered query={query} loading={<Skeleton />}>{(incident) => <Content incident={incident} />}</Answered>
    </Page>
  );
}

/** Takes the place of the page's panels. */
function Skeleton(): ReactNode {
  const isShown = useIsSlow();
  return (
    <div className={styles.incidentSkeleton} role="status" aria-label="Loading" data-shown={isShown}>
      <span /><span /><span /><span />
    </div>
  );
}

function Content({ incident }: { readonly incident: Incident }): ReactNode {
  const { destinationUrlId, state, startedAt, endedAt, endedBy } = incident;
  const now = useNow();
  return (
    <>
      <p className={styles.incidentHead}>
        <IncidentState state={state} />
        <span className={styles.incidentOf}><DestinationLink id={destinationUrlId} /></span>
        <span>
          from <Moment at={startedAt} />
          {endedAt !== null && <> to <Moment at={endedAt} /></>}, {lastedText(incident, now)}
        </span>
      </p>
      <Figures incident={incident} />
      {endedBy === null || <p>Ended by the deletion of the destination:</p>}
      {endedBy && <FactLine fact={factOf(endedBy, undefined)} />}
      <div className={styles.incidentParts}>
        <Causes incident={incident} />
        <Suspects suspects={incident.suspects} />
      </div>
      {endedBy === null && <Repair incident={incident} />}
    </>
  );
}

/** The numbers of an incident; those of events lead to their lists. */
function Figures({ incident: { destinationUrlId, attempts, events, refused, circuit } }: {
  readonly incident: Incident;
}): ReactNode {
  const listOf = (Status: string): LinkProps =>
    ({ to: "/events", search: { DestinationUrlId: destinationUrlId, Status } });
  const figures: readonly (readonly [name: string, count: number, list?: LinkProps])[] = [
    ["Failed attempts", attempts],
    ["Events affected", events.affected],
    ["Failed", events.exhausted, listOf("CriticalFailure")],
    ["Waiting", events.waiting, listOf("Pending,Processing,WaitingRetry")],
    ["Delivered", events.delivered, listOf("Succeeded")],
    ["Cancelled", events.cancelled, listOf("Cancelled")],
    ["Posts refused", refused, { to: "/", search: { refused: "all" } }],
    ["Circuit opened", circuit.opened],
    ["Probes", circuit.probes],
  ];
  return (
    <dl className={styles.figures} aria-label="In numbers">
      {figures.map(([name, count, list]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{list && count > 0
            ? <Link {...list}>{count.toLocaleString("en")}</Link> : count.toLocaleString("en")}</dd>
        </div>
      ))}
    </dl>
  );
}

function Causes({ incident: { failures } }: { readonly incident: Incident }): ReactNode {
  return (
    <section aria-label="Why it failed" className={classes(shared.panel, shared.section)}>
      <h2>Why it failed</h2>
      <Table
        className={styles.causes} rows={failures} keyOf={({ reason, statusCode }) => `${reason} ${statusCode}`} stacked
        columns={[
          {
            head: "Cause", kind: "main", cell: (failure) => (
              <>{causeText(failure)}<small className={shared.wraps}>{failure.error}</small></>
            ),
          },
          { head: "Attempts", label: "Attempts", kind: "number", cell: ({ count }) => count.toLocaleString("en") },
          {
            head: "The newest", label: "The newest", cell: ({ eventId }) => (
              <Link to="/events/$id" params={{ id: eventId }} aria-label={`The newest event: ${eventId}`}>Event</Link>
            ),
          },
        ]}
      />
    </section>
  );
}

type Entry = Schemas["NamedEntry"];

function Suspects({ suspects }: { readonly suspects: Incident["suspects"] }): ReactNode {
  return (
    <section aria-label="What changed before" className={classes(shared.panel, shared.section)}>
      <h2>What changed before</h2>
      {suspects.length === 0
        ? <p>Nothing: no setting changed in the 24 hours before.</p>
        : <p className={shared.small}>In the 24 hours before. That need not be the cause.</p>}
      <ol className={styles.suspects}>
        {suspects.map(({ entry, secondsBefore, changes }) => {
          const fact = factOf(entry, changes);
          const shown = changesIn(fact);
          const hasBefore = shown.some(({ before }) => before !== null);
          return (
            <li key={entry.position}>
              <FactLine fact={fact}>, <strong>{beforeText(secondsBefore)}</strong></FactLine>
              {hasBefore && <Diff changes={shown} />}
              <p>
                <Link to="/audit" search={{ SubjectId: entry.subject.id, open: entry.position }}>In the audit</Link>
              </p>
            </li>
          );
        })}
      </ol>
    </section>
  );
}

/** An entry in the form of a history's, as far as its words need it: the values that it set are its data. */
function factOf({ position, type, time, actor }: Entry, changes: Incident["suspects"][number]["changes"]): Fact {
  const data = Object.fromEntries((changes ?? []).map(({ field, to }) => [field, to]));
  return { position, type, time, actor, revision: 0, correlationId: "", data, ...(changes && { changes }) } as Fact;
}
