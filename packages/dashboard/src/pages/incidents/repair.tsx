import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { Schemas } from "@webhook-relay/client";
import { useState, type ReactNode } from "react";
import { isNotFound } from "../../api/queries.ts";
import { relay } from "../../api/relay.ts";
import { useMay } from "../../app/session.ts";
import { Field, Form } from "../../parts/form.tsx";
import { Confirm } from "../../parts/questions.tsx";
import { Answered, NoRight, textOf } from "../../parts/states.tsx";
import { Status } from "../../parts/status.tsx";
import { Countdown } from "../../parts/time.tsx";
import { classes } from "../../style/classes.ts";
import shared from "../../style/shared.module.css";
import { TestResult } from "../destination/test-event.tsx";
import { useDestination, useUpdate } from "../destination/use-destination.ts";
import { countText, type Incident } from "./incident-words.ts";
import styles from "./incidents.module.css";

const everyMs = 1_000;

/** The steps from a failing destination to delivered events, each with its result. */
export function Repair({ incident }: { readonly incident: Incident }): ReactNode {
  const { destinationUrlId: id } = incident;
  const mayDo = useMay();
  const query = useDestination(id);
  if (isNotFound(query.error)) {
    return <p>The destination was deleted: nothing is left to repair.</p>;
  }
  const may = (["updateDestination", "testDestination", "orderReplay"] as const).every((operation) => mayDo(operation));
  if (!may) return <NoRight>A Developer, an Admin or the Owner repairs destinations.</NoRight>;
  return (
    <section aria-label="Repair" className={shared.section}>
      <h2>Repair</h2>
      <Answered query={query}>
        {(destination) => (
          <ol className={styles.steps}>
            <Step title="Change the URL"><ChangeUrl destination={destination} /></Step>
            <Step title="Send a test event"><Test id={id} /></Step>
            <Step title="Close the circuit"><CloseCircuit destination={destination} /></Step>
            <Step title="Replay what failed"><ReplayFailed incident={incident} destination={destination} /></Step>
          </ol>
        )}
      </Answered>
    </section>
  );
}

function Step({ title, children }: { readonly title: string; readonly children: ReactNode }): ReactNode {
  return <li className={classes(shared.panel, styles.step)} aria-label={title}><h3>{title}</h3>{children}</li>;
}

type Destination = Schemas["Destination"];
interface OfDestination {
  readonly destination: Destination;
}

function ChangeUrl({ destination: { id, url, updatedAt } }: OfDestination): ReactNode {
  const update = useUpdate(id);
  return (
    <Form
      submit={(_fields, { url: changed }) => update(changed === undefined ? {} : { url: changed })}
      label="Save the URL" keeps of={{ values: { url }, updatedAt }}
    >
      <Field name="url" label="URL">{(props) => <input {...props} inputMode="url" autoComplete="off" />}</Field>
    </Form>
  );
}

function Test({ id }: { readonly id: string }): ReactNode {
  const [eventId, setEventId] = useState<string>();
  const { run, running, problem } = useAct(async () => setEventId((await relay.testDestination({ id }, {})).id));
  return (
    <>
      <p className={shared.small}>One attempt at the URL as it is saved, also while the circuit is open.</p>
      <p><button type="button" disabled={running} onClick={run}>Send test event</button></p>
      {problem}
      {eventId !== undefined && <TestResult key={eventId} eventId={eventId} />}
    </>
  );
}

function CloseCircuit({ destination: { id, status, suspendedUntil } }: OfDestination): ReactNode {
  const update = useUpdate(id);
  const { run, running, problem } = useAct(() => update({ status: "active" }));
  const isOpen = status === "Suspended";
  return (
    <>
      <p>
        <Status value={isOpen ? "Open" : status === "Inactive" ? "Inactive" : "Closed"} />
        {suspendedUntil !== null && <small> tried again <Countdown to={suspendedUntil} /></small>}
      </p>
      <p className={shared.small}>
        {isOpen ? "Deliveries are held until a probe succeeds, or a person closes it."
          : status === "Inactive" ? "The destination is switched off: switch it on first." : "Deliveries go."}
      </p>
      <p><button type="button" disabled={!isOpen || running} onClick={run}>Close circuit</button></p>
      {problem}
    </>
  );
}

function ReplayFailed({ incident, destination: { status } }: OfDestination & {
  readonly incident: Incident;
}): ReactNode {
  const { destinationUrlId, startedAt, endedAt } = incident;
  const queries = useQueryClient();
  const [asks, setAsks] = useState(false);
  const [replayId, setReplayId] = useState<string>();
  const failed = {
    destinationUrlId, status: "CriticalFailure", finishedFrom: startedAt,
    ...(endedAt !== null && { finishedTo: endedAt }),
  } as const;
  const count = useQuery({
    queryKey: ["orderReplay", failed, "dry"],
    queryFn: async () => (await relay.orderReplay({ ...failed, dryRun: true })).matched,
    refetchInterval: 5 * everyMs,
  });
  const order = async () => {
    const ordered = await relay.orderReplay(failed);
    if ("id" in ordered) setReplayId(ordered.id);
    await queries.invalidateQueries({ queryKey: ["orderReplay", failed, "dry"] });
  };
  return (
    <>
      <Answered query={count}>
        {(matched) => (
          <>
            <p className={shared.small}>
              {matched === 0 ? "No failed event of this incident is left."
                : `${countText(matched, "failed event")} of this incident.`}
              {status === "Suspended" && matched > 0 && " They are held while the circuit is open."}
            </p>
            <p>
              <button type="button" disabled={matched === 0} onClick={() => setAsks(true)}>
                Replay {countText(matched, "event")}…
              </button>
            </p>
            {asks && (
              <Confirm
                title={`Replay ${countText(matched, "event")}`} act="Replay" run={order} close={() => setAsks(false)}
              >
                <p>Each failed event of this incident is sent once more, in the order of acceptance.</p>
              </Confirm>
            )}
          </>
        )}
      </Answered>
      {replayId !== undefined && <ReplayResult id={replayId} />}
    </>
  );
}

function ReplayResult({ id }: { readonly id: string }): ReactNode {
  const replay = useQuery({
    queryKey: ["getReplay", { id }], queryFn: () => relay.getReplay({ id }),
    refetchInterval: ({ state }) => (state.data?.finishedAt ? false : everyMs),
  });
  return (
    <div role="status" aria-label="The replay">
      <Answered query={replay}>
        {({ state, matched, done, skipped }) => (
          <>
            <p><Status value={state} /> {done} of {countText(matched, "event")} sent again</p>
            {skipped > 0 && <p className={shared.small}>{skipped} skipped</p>}
            <p><Link to="/operations">All replays</Link></p>
          </>
        )}
      </Answered>
    </div>
  );
}

/** Runs an act at a click, and shows its error. */
function useAct(act: () => Promise<unknown>) {
  const [running, setRunning] = useState(false);
  const [error, setError] = useState<unknown>();
  const run = () => {
    setRunning(true);
    setError(undefined);
    act().catch(setError).finally(() => setRunning(false));
  };
  const problem = error !== undefined && <p className={shared.problem} role="alert">{textOf(error)}</p>;
  return { run, running, problem };
}
