import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { Schemas } from "@webhook-relay/client";
import { useState, type ReactNode } from "react";
import { relay } from "../../api/relay.ts";
import { useMay, useMe } from "../../app/session.ts";
import { FactLine } from "../../parts/fact-line.tsx";
import { Listed, usePages } from "../../parts/listed.tsx";
import { Empty, textOf } from "../../parts/states.tsx";
import { Countdown, Moment } from "../../parts/time.tsx";
import { durationText } from "../../parts/times.ts";
import { shortId } from "../../story/words.ts";
import { classes } from "../../style/classes.ts";
import shared from "../../style/shared.module.css";
import { countedRuns } from "./counted-runs.ts";
import styles from "./destination.module.css";
import { useUpdate } from "./use-destination.ts";

/** The circuit of a destination: its state, the way to close it, and its history. */
export function Circuit({ destination }: { readonly destination: Schemas["Destination"] }): ReactNode {
  const { id } = destination;
  const pages = usePages({
    queryKey: ["listCircuitHistory", { id }], size: 50, refetchInterval: 5_000,
    ask: (page) => relay.listCircuitHistory({ id, ...page, TpOrd: "Desc" }),
  });
  return (
    <section aria-label="Circuit" className={styles.destinationSection}>
      {pages.data && (
        <>
          <Position destination={destination} newest={pages.data[0]} />
          <h2>What happened to it</h2>
        </>
      )}
      <Listed pages={pages} empty={<Empty>Nothing: no attempt has failed since the beginning.</Empty>}>
        {(facts) => (
          <ol className={styles.destinationFacts}>
            {countedRuns(facts).map(({ fact, before }) => (
              <li key={fact.position}>
                <FactLine fact={fact}><Cause fact={fact} /></FactLine>
                {before.length > 0 && (
                  <details className={styles.counts}>
                    <summary>and {before.length} {before.length === 1 ? "count" : "counts"} before it</summary>
                    <ol>
                      {before.map((each) => (
                        <li key={each.position}><FactLine fact={each}><Cause fact={each} /></FactLine></li>
                      ))}
                    </ol>
                  </details>
                )}
              </li>
            ))}
          </ol>
        )}
      </Listed>
    </section>
  );
}

type CircuitFact = Schemas["HistoryItem"];
/** Each fact of a circuit has its whole state. */
type CircuitState = Schemas["CircuitCountedFact"]["data"];

function Cause({ fact: { data } }: { readonly fact: CircuitFact }): ReactNode {
  const eventId = "eventId" in data ? data.eventId : null;
  return typeof eventId === "string" && (
    <>
      : <Link to="/events/$id" params={{ id: eventId }} aria-label={`event ${eventId}`}>
        event <code title={eventId}>{shortId(eventId)}</code>
      </Link>
    </>
  );
}

function Position({ destination: { id, status, suspendedUntil, circuit, health }, newest }: {
  readonly destination: Schemas["Destination"]; readonly newest: CircuitFact | undefined;
}): ReactNode {
  const { tenant: { id: tenantId } } = useMe();
  const mayDo = useMay();
  const update = useUpdate(id);
  const [problem, setProblem] = useState("");
  const tenant = useQuery({
    queryKey: ["getTenant", { id: tenantId }],
    queryFn: () => relay.getTenant({ id: tenantId }),
  });
  const most = circuit?.failures ?? tenant.data?.maxTrys;
  const timer = circuit?.timer ?? tenant.data?.circuitBreakerTimer;
  const { failures, position } = health.circuit;
  const pausedUntil = pauseIn(newest);
  const closeIt = () => {
    update({ status: "active" }).then(() => setProblem(""), (error: unknown) => setProblem(textOf(error)));
  };
  const closes = mayDo("updateDestination");
  if (status === "Suspended" && suspendedUntil !== null) {
    return (
      <div className={classes(shared.state, shared.bad)}>
        <p>
          <strong>Circuit open until <Moment at={suspendedUntil} /></strong> (<Countdown to={suspendedUntil} />):
          deliveries are held. Then one event is sent as the probe.
        </p>
        <p>
          It closes when the probe is delivered, or when a person closes it. If the probe fails it stays open
          {timer !== undefined && <> for another {durationText(timer * 1_000)}</>}.
        </p>
        {closes && <p><button type="button" className={shared.primary} onClick={closeIt}>Close circuit</button></p>}
        {problem !== "" && <p className={shared.problem} role="alert">{problem}</p>}
      </div>
    );
  }
  return (
    <div className={shared.state}>
      <p>
        <strong>{positionText(position, status)}.</strong>
        {" "}{failures} failed {failures === 1 ? "attempt" : "attempts"} in a row
        {most !== undefined && <>; {most} would open it</>}.
      </p>
      {pausedUntil !== undefined && <p>The receiver asked for a pause until <Moment at={pausedUntil} />.</p>}
    </div>
  );
}

function positionText(position: Schemas["Destination"]["health"]["circuit"]["position"], status: string): string {
  if (position === "half-open") return "Half-open: the next event is the probe";
  return status === "Inactive" ? "Closed, but the destination is switched off" : "Closed: deliveries go";
}

/** The pause that a receiver asked for, after a fact of the circuit. */
function pauseIn(newest: CircuitFact | undefined): string | undefined {
  return newest?.type.startsWith("Circuit") ? (newest.data as CircuitState).pausedUntil : undefined;
}
