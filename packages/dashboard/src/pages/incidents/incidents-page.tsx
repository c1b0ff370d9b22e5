import { Link, useSearch } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { relay } from "../../api/relay.ts";
import { useChange } from "../../app/navigation.tsx";
import { MiddleCut } from "../../parts/copy.tsx";
import { Listed, usePages } from "../../parts/listed.tsx";
import { useTargets } from "../../parts/names.tsx";
import { Page } from "../../parts/page.tsx";
import { Empty } from "../../parts/states.tsx";
import { Status } from "../../parts/status.tsx";
import { Table } from "../../parts/table.tsx";
import { Ago, useNow } from "../../parts/time.tsx";
import { causeText, lastedText, type Incident } from "./incident-words.ts";
import styles from "./incidents.module.css";

const everyMs = 10_000;
const states = { open: "Open", over: "Over" } as const;

/** The incidents, the newest first. */
export function IncidentsPage(): ReactNode {
  const { State } = useSearch({ from: "/signed-in/incidents" });
  const change = useChange();
  const chosen = (["open", "over"] as const).find((state) => state === State);
  const filter = chosen === undefined ? {} : { State: chosen } as const;
  const pages = usePages({
    queryKey: ["listIncidents", filter], size: 25, refetchInterval: everyMs,
    ask: (page) => relay.listIncidents({ ...filter, ...page }),
  });
  return (
    <Page title="Incidents" wide>
      <label className={styles.listFilter}>State <select
        value={chosen ?? ""} onChange={({ target }) => change({ State: target.value })}
      >
        <option value="">all</option>
        {Object.entries(states).map(([state, word]) => <option key={state} value={state}>{word}</option>)}
      </select></label>
      <Listed
        pages={pages}
        empty={chosen === undefined ? (
          <Empty>
            No incidents. A destination at which three attempts in a row fail, or whose circuit opens, is listed here,
            with the causes and with what changed before.
          </Empty>
        ) : (
          <Empty act={<button type="button" onClick={() => change({ State: "" })}>Show all</button>}>
            No incident is {chosen}.
          </Empty>
        )}
      >
        {(incidents) => <Incidents incidents={incidents} />}
      </Listed>
    </Page>
  );
}

function Incidents({ incidents }: { readonly incidents: readonly Incident[] }): ReactNode {
  const { nameOf } = useTargets();
  const now = useNow();
  return (
    <Table
      className={styles.incidents} rows={incidents} keyOf={({ id }) => id} stacked
      columns={[
        { head: "State", cell: ({ state }) => <IncidentState state={state} /> },
        {
          head: "Destination", kind: "main", className: styles.incidentUrl, cell: ({ id, destinationUrlId }) => (
            <Link to="/incidents/$id" params={{ id }}><MiddleCut text={nameOf(destinationUrlId)} /></Link>
          ),
        },
        { head: "Most frequent cause", cell: ({ failures: [most] }) => most && causeText(most) },
        { head: "Began", label: "Began", cell: ({ startedAt }) => <Ago to={startedAt} /> },
        { head: "Lasted", label: "Lasted", kind: "number", cell: (incident) => lastedText(incident, now) },
        {
          head: "Failed attempts", label: "Failed attempts", kind: "number",
          cell: ({ attempts }) => attempts.toLocaleString("en"),
        },
        {
          head: "Events", label: "Events", kind: "number",
          cell: ({ events: { affected } }) => affected.toLocaleString("en"),
        },
        { head: "Refused", label: "Refused", kind: "number", cell: ({ refused }) => refused.toLocaleString("en") },
      ]}
    />
  );
}

/** The state of an incident as a pill. */
export function IncidentState({ state }: { readonly state: Incident["state"] }): ReactNode {
  return state === "open" ? <Status value="Open" /> : <Status value="Finished" word="Over" />;
}
