import { useQuery } from "@tanstack/react-query";
import { useSearch } from "@tanstack/react-router";
import { RelayError, type Schemas } from "@webhook-relay/client";
import type { ReactNode } from "react";
import { relay } from "../../api/relay.ts";
import { useChange } from "../../app/navigation.tsx";
import { authTitle } from "../../parts/auth-fields.tsx";
import { changesIn, type FactChange, type Values } from "../../parts/changes.ts";
import { Diff } from "../../parts/diff.tsx";
import { FactLine } from "../../parts/fact-line.tsx";
import { factType } from "../../parts/fact-words.ts";
import { Answered, Empty } from "../../parts/states.tsx";
import { Moment } from "../../parts/time.tsx";
import { classes } from "../../style/classes.ts";
import shared from "../../style/shared.module.css";
import styles from "./destination.module.css";

type SettingsChange = FactChange<Schemas["HistoryItem"]>;

const labels = { url: "URL", serverRateLimit: "Requests at once", authType: "Authentication", status: "Status" };

/** Every change of a destination, the newest first, and the destination as of any of them. */
export function Changes({ id }: { readonly id: string }): ReactNode {
  const query = useQuery({
    queryKey: ["listDestinationHistory", { id }, "all"],
    queryFn: () => allHistory(id),
  });
  return (
    <section aria-label="Changes" className={styles.destinationSection}>
      <Answered query={query}>
        {(history) => {
          const changes = changesIn(history, settingsAfter);
          return (
            <>
              <AsOf id={id} changes={changes} />
              <ChangeList changes={changes} />
            </>
          );
        }}
      </Answered>
    </section>
  );
}

async function allHistory(id: string): Promise<readonly Schemas["HistoryItem"][]> {
  const history = [];
  for await (const fact of relay.listDestinationHistory({ id, Qt: 100, Total: false })) history.push(fact);
  return history;
}

function ChangeList({ changes }: { readonly changes: readonly SettingsChange[] }): ReactNode {
  const { at } = useSearch({ from: "/signed-in/destinations/$id" });
  if (changes.length === 0) return <Empty>Nothing is recorded.</Empty>;
  const then = at === undefined ? changes.length - 1 : placeAt(changes, at);
  const places = changes.map((change, place) => [place, change] as const).reverse();
  return (
    <ol className={styles.changeList}>
      {places.map(([place, { fact, before, after }]) => (
        <li key={fact.position} data-later={place > then} aria-current={at !== undefined && place === then}>
          <FactLine fact={fact} />
          {place > 0 && before !== after && <Diff before={before} after={after} labels={labels} />}
        </li>
      ))}
    </ol>
  );
}

/** The slider over the changes, and the destination as it was at the chosen one. */
function AsOf({ id, changes }: { readonly id: string; readonly changes: readonly SettingsChange[] }): ReactNode {
  const { at } = useSearch({ from: "/signed-in/destinations/$id" });
  const change = useChange();
  const last = changes.length - 1;
  const place = at === undefined ? last : placeAt(changes, at);
  const choose = (chosen: number) =>
    change({ at: chosen === last ? undefined : changes[chosen]?.fact.position }, { replace: true });
  const shown = changes[place]?.fact;
  return (
    <div className={classes(shared.panel, styles.destinationAsOf)}>
      <label className={styles.slider}>
        <span>As of {at === undefined || !shown ? "now" : <Moment at={shown.time} />}</span>
        <input
          type="range" min={0} max={Math.max(0, last)} value={Math.max(0, place)} disabled={last < 1}
          aria-valuetext={`change ${place + 1} of ${changes.length}`}
          onChange={({ target }) => choose(Number(target.value))}
        />
        <small>change {place + 1} of {changes.length}</small>
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
      if (error instanceof RelayError && error.code === "not-found") return null;
      throw error;
    }),
  });
  return (
    <Answered query={then}>
      {(was) => (
        <>
          <dl className={styles.settingsThen}>
            {Object.entries(settingsOf(was)).map(([field, value]) => (
              <div key={field}><dt>{labels[field as keyof typeof labels]}</dt><dd>{value}</dd></div>
            ))}
          </dl>
          <Answered query={now}>
            {(is) => (
              <>
                <h3>{is === null ? "Deleted since" : "Since then"}</h3>
                {is !== null && <Diff before={settingsOf(was)} after={settingsOf(is)} labels={labels} />}
              </>
            )}
          </Answered>
        </>
      )}
    </Answered>
  );
}

function settingsOf({ url, serverRateLimit, authType, status }: Schemas["Destination"]): Values {
  return { url, serverRateLimit, authType: authTitle(authType), status };
}

function settingsAfter(before: Values, { type, data }: Schemas["HistoryItem"]): Values {
  const { sets } = factType(type);
  if (sets?.["status"] === "Deleted") return {};
  const given = Object.entries(data).filter(([name]) => Object.hasOwn(labels, name));
  return given.length === 0 && !sets ? before : { ...before, ...(Object.fromEntries(given) as Values), ...sets };
}

/** The place of the last change at or before a position of the log; -1 before the first. Positions compare as texts. */
function placeAt(changes: readonly SettingsChange[], position: string): number {
  return changes.findLastIndex(({ fact }) => fact.position <= position);
}
