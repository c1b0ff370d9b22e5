import { useQuery } from "@tanstack/react-query";
import { useSearch } from "@tanstack/react-router";
import type { Schemas } from "@webhook-relay/client";
import type { ReactNode } from "react";
import { isNotFound } from "../../api/queries.ts";
import { relay } from "../../api/relay.ts";
import { useChange } from "../../app/navigation.tsx";
import { authTitle } from "../../parts/auth-fields.tsx";
import { changesIn, changesOf, linesOf, settingName, type Values } from "../../parts/changes.ts";
import { Diff } from "../../parts/diff.tsx";
import { FactLine } from "../../parts/fact-line.tsx";
import { pairsText } from "../../parts/pairs.ts";
import { Answered, Empty } from "../../parts/states.tsx";
import { Moment } from "../../parts/time.tsx";
import { classes } from "../../style/classes.ts";
import shared from "../../style/shared.module.css";
import styles from "./destination.module.css";

type History = readonly Schemas["HistoryItem"][];

/** Every change of a destination, the newest first, and the destination as of any of them. */
export function Changes({ id }: { readonly id: string }): ReactNode {
  const query = useQuery({
    queryKey: ["listDestinationHistory", { id }, "all"],
    queryFn: () => allHistory(id),
  });
  return (
    <section aria-label="Changes" className={styles.destinationSection}>
      <Answered query={query}>
        {(history) => (
          <>
            <AsOf id={id} history={history} />
            <ChangeList history={history} />
          </>
        )}
      </Answered>
    </section>
  );
}

async function allHistory(id: string): Promise<History> {
  const history = [];
  for await (const fact of relay.listDestinationHistory({ id, Qt: 100, Total: false })) history.push(fact);
  return history;
}

function ChangeList({ history }: { readonly history: History }): ReactNode {
  const { at } = useSearch({ from: "/signed-in/destinations/$id" });
  if (history.length === 0) return <Empty>Nothing is recorded.</Empty>;
  const then = at === undefined ? history.length - 1 : placeAt(history, at);
  const places = history.map((fact, place) => [place, fact] as const).reverse();
  return (
    <ol className={styles.changeList}>
      {places.map(([place, fact]) => (
        <li key={fact.position} data-later={place > then} aria-current={at !== undefined && place === then}>
          <FactLine fact={fact} />
          {place > 0 && fact.changes && <Diff changes={changesIn(fact)} />}
        </li>
      ))}
    </ol>
  );
}

/** The slider over the changes, and the destination as it was at the chosen one. */
function AsOf({ id, history }: { readonly id: string; readonly history: History }): ReactNode {
  const { at } = useSearch({ from: "/signed-in/destinations/$id" });
  const change = useChange();
  const last = history.length - 1;
  const place = at === undefined ? last : placeAt(history, at);
  const choose = (chosen: number) =>
    change({ at: chosen === last ? undefined : history[chosen]?.position }, { replace: true });
  const shown = history[place];
  return (
    <div className={classes(shared.panel, styles.destinationAsOf)}>
      <label className={styles.slider}>
        <span>As of {at === undefined || !shown ? "now" : <Moment at={shown.time} />}</span>
        <input
          type="range" min={0} max={Math.max(0, last)} value={Math.max(0, place)} disabled={last < 1}
          aria-valuetext={`change ${place + 1} of ${history.length}`}
          onChange={({ target }) => choose(Number(target.value))}
        />
        <small>change {place + 1} of {history.length}</small>
      </label>
      {at !== undefined && <Then id={id} at={at} />}
      {at !== undefined && <p><button type="button" onClick={() => change({ at: undefined })}>Now</button></p>}
    </div>
  );
}

function Then({ id, at }: { readonly id: string; readonly at: string }): ReactNode {
  const then = useQuery({
    queryKey: ["getDestination", { id, AsOf: at }],
    queryFn: () => relay.getDestination({ id, AsOf: at }),
    staleTime: Infinity,
  });
  const now = useQuery({
    queryKey: ["getDestination", { id }, "if there"],
    // Of a deleted destination every field is gone.
    queryFn: () => relay.getDestination({ id }).catch((error: unknown) => {
      if (isNotFound(error)) return null;
      throw error;
    }),
  });
  return (
    <Answered query={then}>
      {(was) => (
        <>
          <dl className={styles.settingsThen}>
            {Object.entries(settingsOf(was)).filter(([, value]) => value !== null).map(([field, value]) => (
              <div key={field}><dt>{settingName(field)}</dt><dd>{value}</dd></div>
            ))}
          </dl>
          <Answered query={now}>
            {(is) => (
              <>
                <h3>{is === null ? "Deleted since" : "Since then"}</h3>
                {is !== null && <Diff changes={changesOf(settingsOf(was), settingsOf(is))} />}
              </>
            )}
          </Answered>
        </>
      )}
    </Answered>
  );
}

function settingsOf(destination: Schemas["Destination"]): Values {
  const { name, description, ownerId, metadata, url, authType, status, timeoutMs, headers, ordering } = destination;
  const { serverRateLimit, ratePerSecond, retryPolicy, circuit } = destination;
  const { clientCertificate, whenSuspended, disableAfterDays, expireAfterDays } = destination;
  return linesOf({
    name, description, ownerId, metadata: pairsText(metadata), url, status, authType: authTitle(authType), timeoutMs,
    serverRateLimit, ratePerSecond, headers: pairsText(headers), ordering, clientCertificate, retryPolicy, circuit,
    whenSuspended, disableAfterDays, expireAfterDays,
  });
}

/** The place of the last change at or before a time or a position, which sort as text; -1 before the first. */
function placeAt(history: History, at: string): number {
  return history.findLastIndex(({ position, time }) => (at.includes("T") ? time : position) <= at);
}
