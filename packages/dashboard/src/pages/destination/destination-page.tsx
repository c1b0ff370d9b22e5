import { useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import type { Schemas } from "@webhook-relay/client";
import { useState, type ReactNode } from "react";
import { isNotFound } from "../../api/queries.ts";
import { relay } from "../../api/relay.ts";
import { useChange } from "../../app/navigation.tsx";
import { useMay } from "../../app/session.ts";
import { Copy, Id, MiddleCut } from "../../parts/copy.tsx";
import { IngestAddress } from "../../parts/ingest-address.tsx";
import { Page, Tabs } from "../../parts/page.tsx";
import { Confirm, SecretDialog, useQuestion } from "../../parts/questions.tsx";
import { Answered, NoRight, textOf } from "../../parts/states.tsx";
import { classes } from "../../style/classes.ts";
import shared from "../../style/shared.module.css";
import { Subscriptions } from "../subscriptions/subscriptions.tsx";
import { Changes } from "./changes.tsx";
import { Circuit } from "./circuit.tsx";
import styles from "./destination.module.css";
import { Events } from "./events.tsx";
import { Health } from "./health.tsx";
import { Settings } from "./settings.tsx";
import { switchOff } from "./switch-off.tsx";
import { TestEvent } from "./test-event.tsx";
import { DestinationStatus } from "./traffic-status.tsx";
import { useDestination, useRefresh, useUpdate } from "./use-destination.ts";

const tabs = {
  health: "Health", events: "Events", subscriptions: "Subscriptions", circuit: "Circuit", settings: "Settings",
  changes: "Changes",
};

/** A destination: its health, its events, its circuit, its settings and their history. */
export function DestinationPage(): ReactNode {
  const { id } = useParams({ from: "/signed-in/destinations/$id" });
  const query = useDestination(id);
  if (isNotFound(query.error)) return <Deleted id={id} />;
  const { data } = query;
  return (
    <Page
      title={data ? data.name ?? data.url : "Destination"} heading={data && <MiddleCut text={data.name ?? data.url} />}
      back={back}
      acts={data && <Acts destination={data} />}
    >
      <Answered query={query}>{(destination) => <Content destination={destination} />}</Answered>
    </Page>
  );
}

const back = <Link to="/destinations">Destinations</Link>;

/** A deleted destination still has its history. */
function Deleted({ id }: { readonly id: string }): ReactNode {
  return (
    <Page title="Deleted destination" back={back}>
      <Changes id={id} />
    </Page>
  );
}

function Content({ destination }: { readonly destination: Schemas["Destination"] }): ReactNode {
  const { id, name, url } = destination;
  const { tab = "health" } = useSearch({ from: "/signed-in/destinations/$id" });
  const change = useChange();
  const mayDo = useMay();
  return (
    <>
      <p className={styles.underTitle}>
        <span><DestinationStatus destination={destination} /></span>
        <span className={classes(shared.small, styles.copied)}>
          {name === null ? "URL" : <MiddleCut text={url} />} <Copy text={url} label="Copy the URL" />
        </span>
        <Id value={id} />
      </p>
      {!mayDo("updateDestination") && (
        <NoRight>A Developer, an Admin or the Owner tests, changes and deletes destinations.</NoRight>
      )}
      <Tabs label="About the destination" tabs={tabs} chosen={tab} choose={(chosen) => change({ tab: chosen })} />
      {tab === "health" && <Health destination={destination} />}
      {tab === "events" && <Events id={id} />}
      {tab === "subscriptions" && <Subscriptions of={{ destinationUrlId: id }} />}
      {tab === "circuit" && <Circuit destination={destination} />}
      {tab === "settings" && <Settings destination={destination} />}
      {tab === "changes" && <Changes id={id} />}
    </>
  );
}

function Acts({ destination: { id, name, url, status } }: { readonly destination: Schemas["Destination"] }): ReactNode {
  const { act } = useSearch({ from: "/signed-in/destinations/$id" });
  const change = useChange();
  const mayDo = useMay();
  const update = useUpdate(id);
  const refresh = useRefresh(id);
  const queries = useQueryClient();
  const navigate = useNavigate();
  const [token, setToken] = useState<string>();
  const [problem, setProblem] = useState("");
  const open = (chosen: string) => () => change({ act: chosen });
  const close = () => change({ act: undefined }, { replace: true });
  const isOff = status === "Inactive";
  const { ask, dialog } = useQuestion();
  const turn = async () => {
    if (!isOff && !await ask(switchOff(name ?? url))) return;
    await update({ status: isOff ? "active" : "inactive" })
      .then(() => setProblem(""), (error: unknown) => setProblem(textOf(error)));
  };
  const replaceToken = async () => {
    const { ingestToken } = await relay.regenerateDestinationToken({ id });
    setToken(ingestToken);
    await refresh();
  };
  const remove = async () => {
    await relay.deleteDestination({ id });
    await queries.invalidateQueries({ queryKey: ["listDestinations"] });
    void navigate({ to: "/destinations" });
  };
  return (
    <>
      {mayDo("testDestination") && (
        <button type="button" className={shared.primary} onClick={open("test")}>Send test event…</button>
      )}
      {mayDo("updateDestination") && (
        <button type="button" onClick={() => void turn()}>{isOff ? "Switch on" : "Switch off…"}</button>
      )}
      {mayDo("regenerateDestinationToken") && <button type="button" onClick={open("token")}>New ingest token…</button>}
      {mayDo("deleteDestination") && (
        <button type="button" className={shared.danger} onClick={open("delete")}>Delete…</button>
      )}
      {problem !== "" && <p className={shared.problem} role="alert">{problem}</p>}
      {dialog}
      {act === "test" && mayDo("testDestination") && <TestEvent id={id} close={close} />}
      {act === "token" && mayDo("regenerateDestinationToken") && (
        <Confirm title="Replace the ingest token?" act="Replace the token" run={replaceToken} close={close}>
          <p>Producers that post with the old token get 401 at once, until they have the new one.</p>
        </Confirm>
      )}
      {act === "delete" && mayDo("deleteDestination") && (
        <Confirm
          title="Delete the destination?" act="Delete it" type={name ?? new URL(url).host} run={remove} close={close}
        >
          <p>Its waiting events are cancelled, and its ingest token ends. Its history stays readable.</p>
        </Confirm>
      )}
      {token !== undefined && (
        <SecretDialog title="The new ingest token" secret={token} done={() => setToken(undefined)}>
          <IngestAddress token={token} />
        </SecretDialog>
      )}
    </>
  );
}
