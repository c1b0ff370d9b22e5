import { useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState, type ReactNode } from "react";
import { relay } from "../../api/relay.ts";
import { usePreferences } from "../../app/preferences.tsx";
import { useMay, useMe } from "../../app/session.ts";
import { Listed, usePages, type ListPage, type PageParameters } from "../../parts/listed.tsx";
import { useTargets, useWho } from "../../parts/names.tsx";
import { Confirm } from "../../parts/questions.tsx";
import { Empty } from "../../parts/states.tsx";
import { Status } from "../../parts/status.tsx";
import { Moment } from "../../parts/time.tsx";
import { durationText, momentText } from "../../parts/times.ts";
import { filterText } from "./filter-text.ts";
import { kinds, type Kind } from "./kinds.ts";
import styles from "./operations.module.css";
import { operationsOf, replayOperation, type PastOperation } from "./past-operations.ts";

/** How often running operations are read again, ms. */
const everyMs = 1_000;

/** The operations of a kind, newest first, with the progress of those that run. */
export function OperationList({ kind, act }: {
  readonly kind: Kind;
  /** The button that orders the first one, for an empty list. */
  readonly act: ReactNode;
}): ReactNode {
  const { tenant: { id } } = useMe();
  const queries = useQueryClient();
  const allows = useMay();
  const [stopped, setStopped] = useState<PastOperation>();
  const queryKey = [kinds[kind].reads, "operations"];
  const pages = usePages({
    queryKey, size: 50, ask: (page) => operationsPage(kind, id, page),
    refetchInterval: (operations) => operations.some(isRunning) ? everyMs : false,
  });
  return (
    <section aria-label={kinds[kind].title}>
      <Listed pages={pages} empty={<Empty act={act}>{kinds[kind].empty}</Empty>}>
        {(operations) => (
          <ul>
            {operations.map((operation) => (
              <Row
                key={operation.id} kind={kind} operation={operation}
                {...(kind === "replay" && isRunning(operation) && allows("cancelReplay")
                  ? { stop: () => setStopped(operation) } : {})}
              />
            ))}
          </ul>
        )}
      </Listed>
      {stopped && (
        <Confirm
          title="Stop the replay" act="Stop it" close={() => setStopped(undefined)}
          run={async () => {
            await relay.cancelReplay({ id: stopped.id });
            await queries.invalidateQueries({ queryKey });
          }}
        >
          <p>Events that it has put to work are delivered. The others stay as they are.</p>
        </Confirm>
      )}
    </section>
  );
}

const outcomes = [
  ["delivered", "delivered", ["Succeeded"]], ["waiting", "waiting", ["Pending", "Processing", "WaitingRetry"]],
  ["exhausted", "failed again", ["CriticalFailure"]], ["cancelled", "cancelled", ["Cancelled"]],
] as const;

/** What has become of the events of a replay, each part with a link to its events. */
function Outcome({ id, outcome }: {
  readonly id: string; readonly outcome: NonNullable<PastOperation["outcome"]>;
}): ReactNode {
  return outcomes.filter(([name]) => outcome[name] > 0).map(([name, words, statuses]) => (
    <Link key={name} to="/events" search={{ ReplayId: id, Status: statuses.join(",") }}>
      {outcome[name].toLocaleString("en")} {words}
    </Link>
  ));
}

function isRunning({ state }: PastOperation): boolean {
  return state === "Running";
}

async function operationsPage(kind: Kind, id: string, parameters: PageParameters): Promise<ListPage<PastOperation>> {
  const page = { ...parameters, TpOrd: "Desc" } as const;
  if (kind === "replay") {
    const { items, nextCursor } = await relay.listReplays({ ...page, CpOrd: "startedAt" });
    return { items: items.map(replayOperation), nextCursor };
  }
  const { items, nextCursor } = kind === "cancel"
    ? await relay.listCancellationHistory({ id, ...page }) : await relay.listPurgeHistory({ id, ...page });
  return { items: operationsOf(items), nextCursor };
}

function Row({ kind, operation, stop }: {
  readonly kind: Kind; readonly operation: PastOperation; readonly stop?: () => void;
}): ReactNode {
  const { zone } = usePreferences();
  const { nameOf } = useTargets();
  const who = useWho();
  const { state, filter, matched, done, skipped, outcome, actor, startedAt, finishedAt } = operation;
  const { toDestinationUrlId } = operation;
  return (
    <li className={styles.operation}>
      <Status value={state} />
      <div className={styles.operationWhat}>
        <p>{filterText(filter, nameOf, (at) => momentText(at, zone))}</p>
        {toDestinationUrlId && <p>to <strong>{nameOf(toDestinationUrlId)}</strong>, as new events</p>}
        <small>
          <Moment at={startedAt} />
          {finishedAt !== null && <>, took {durationText(Date.parse(finishedAt) - Date.parse(startedAt))}</>}
          {" · "}{who(actor)}
        </small>
      </div>
      <div className={styles.operationProgress}>
        <span>{matched.toLocaleString("en")} matched</span>
        {done !== null && <span>{done.toLocaleString("en")} {kinds[kind].done}</span>}
        {outcome && <Outcome id={operation.id} outcome={outcome} />}
        {skipped !== null && skipped > 0 && <span>{skipped.toLocaleString("en")} skipped</span>}
        {state === "Running" && done !== null && (
          <progress aria-label="Progress" max={matched} value={done + (skipped ?? 0)} />
        )}
        {stop && <button type="button" onClick={stop}>Stop…</button>}
      </div>
    </li>
  );
}
