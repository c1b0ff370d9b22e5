import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import type { Schemas } from "@webhook-relay/client";
import { useState, type ReactNode } from "react";
import { relay } from "../../api/relay.ts";
import { useChange } from "../../app/navigation.tsx";
import { useMay } from "../../app/session.ts";
import { MiddleCut } from "../../parts/copy.tsx";
import { SenderTarget } from "../../parts/destinations.tsx";
import { FactChange } from "../../parts/fact-change.tsx";
import { FactRows } from "../../parts/fact-rows.tsx";
import { Listed, usePages } from "../../parts/listed.tsx";
import { Page, Tabs } from "../../parts/page.tsx";
import { Confirm, useQuestion } from "../../parts/questions.tsx";
import { Answered, NoRight, textOf } from "../../parts/states.tsx";
import { Status } from "../../parts/status.tsx";
import { Moment } from "../../parts/time.tsx";
import shared from "../../style/shared.module.css";
import { Command, ingestAddress, ingestCommand, TokenDialog } from "../senders/ingest.tsx";
import { Subscriptions } from "../subscriptions/subscriptions.tsx";
import { useSenderChanged } from "./changed.tsx";
import { MappingEditor } from "./mapping-editor.tsx";
import { RoutingTrial } from "./routing-trial.tsx";
import styles from "./sender.module.css";
import { SenderSettings } from "./settings.tsx";

const tabs = { mapping: "Mapping", settings: "Settings", ingest: "Ingest address", changes: "Changes" };
const fanOutTabs = { subscriptions: "Subscriptions", ...tabs };

/** A sender as it is, or as it was at the moment in the address: `at` is a position in the log, or a time. */
export function SenderPage(): ReactNode {
  const { id } = useParams({ from: "/signed-in/senders/$id" });
  const { at } = useSearch({ from: "/signed-in/senders/$id" });
  const query = useQuery({
    queryKey: ["getSender", { id, at }],
    queryFn: () => relay.getSender({ id, ...(at === undefined ? {} : { AsOf: at }) }),
    // Another person may change it while this one looks at it.
    refetchInterval: at === undefined && 5_000,
  });
  const answered = (
    <Answered query={query}>
      {(sender) => <SenderContent key={sender.id} sender={sender} />}
    </Answered>
  );
  return query.data ? answered : <Page title="Sender" back={back}>{answered}</Page>;
}

const back = <Link to="/senders">Senders</Link>;

function SenderContent({ sender }: { readonly sender: Schemas["Sender"] }): ReactNode {
  const { asOf, fanOut } = sender;
  const hasSubscriptions = fanOut && asOf === undefined;
  const { tab = hasSubscriptions ? "subscriptions" : "mapping" } = useSearch({ from: "/signed-in/senders/$id" });
  const change = useChange();
  const mayChange = useMay()("updateSender") && asOf === undefined;
  return (
    <Page
      title={sender.name} heading={<MiddleCut text={sender.name} />} back={back}
      acts={asOf === undefined && <Acts sender={sender} />}
    >
      {asOf && (
        <p className={shared.stale}>
          As it was at <Moment at={asOf.time} />, entry <code>{asOf.position}</code> of the log.{" "}
          <Link to="/senders/$id" params={{ id: sender.id }}>Show it as it is now</Link>
        </p>
      )}
      <p className={styles.senderLine}>
        <Status value={sender.status} />
        <span aria-hidden="true">→</span>
        <SenderTarget sender={sender} />
        <Link to="/events" search={{ SenderId: sender.id }}>its events</Link>
        {fanOut && <Link to="/messages" search={{ SenderId: sender.id }}>its messages</Link>}
      </p>
      <Tabs
        label="Parts of the sender" tabs={hasSubscriptions ? fanOutTabs : tabs} chosen={tab}
        choose={(chosen) => change({ tab: chosen })}
      />
      {!mayChange && asOf === undefined && <NoRight>Developers, Admins and Owners can change senders.</NoRight>}
      {tab === "subscriptions" && hasSubscriptions && (
        <Subscriptions of={{ senderId: sender.id }}>
          {(subscriptions) => <RoutingTrial senderId={sender.id} subscriptions={subscriptions} />}
        </Subscriptions>
      )}
      {tab === "mapping" && (
        <MappingEditor key={asOf?.position ?? "now"} sender={sender} mayChange={mayChange} />
      )}
      {tab === "settings" && <SenderSettings sender={sender} mayChange={mayChange} />}
      {tab === "ingest" && <Ingest sender={sender} />}
      {tab === "changes" && <SenderChanges id={sender.id} />}
    </Page>
  );
}

function Acts({ sender: { id, name, status, tenantId } }: { readonly sender: Schemas["Sender"] }): ReactNode {
  const allows = useMay();
  const navigate = useNavigate();
  const changed = useSenderChanged();
  const { act } = useSearch({ from: "/signed-in/senders/$id" });
  const change = useChange();
  const [token, setToken] = useState<string>();
  const [problem, setProblem] = useState<unknown>();
  const close = () => change({ act: undefined });
  const isActive = status === "Active";
  const { ask, dialog } = useQuestion();
  const turn = async () => {
    const goesOn = !isActive || await ask({
      title: `Switch ${name} off?`, act: "Switch it off",
      children: <p>Posts to its address are refused with 422 from then on. What it has accepted is still delivered.</p>,
    });
    if (!goesOn) return;
    await relay.updateSender({ id }, { status: isActive ? "inactive" : "active" }).then(changed).then(
      () => setProblem(undefined), setProblem,
    );
  };
  const replaceToken = async () => setToken((await relay.regenerateSenderToken({ id })).ingestToken);
  const remove = async () => {
    await relay.deleteSender({ id });
    await changed();
    void navigate({ to: "/senders" });
  };
  return (
    <>
      {allows("updateSender") && (
        <button type="button" onClick={() => void turn()}>{isActive ? "Switch off…" : "Switch on"}</button>
      )}
      {allows("regenerateSenderToken") && (
        <button type="button" onClick={() => change({ act: "token" })}>New token…</button>
      )}
      {allows("deleteSender") && (
        <button type="button" className={shared.danger} onClick={() => change({ act: "delete" })}>Delete…</button>
      )}
      {problem !== undefined && <p className={shared.problem} role="alert">{textOf(problem)}</p>}
      {dialog}
      {act === "token" && allows("regenerateSenderToken") && (
        <Confirm title={`A new token for ${name}?`} act="Replace the token" run={replaceToken} close={close}>
          <p>The old token stops working at once: whoever posts with it is answered 401 until it has the new one.</p>
        </Confirm>
      )}
      {token !== undefined && (
        <TokenDialog
          title={`The new ingest token of ${name}`} tenantId={tenantId} token={token}
          done={() => setToken(undefined)}
        />
      )}
      {act === "delete" && allows("deleteSender") && (
        <Confirm title={`Delete ${name}?`} act="Delete the sender" type={name} run={remove} close={close}>
          <p>Its address refuses events from then on. What it has accepted is still delivered.</p>
        </Confirm>
      )}
    </>
  );
}

function Ingest({ sender: { tenantId, status } }: { readonly sender: Schemas["Sender"] }): ReactNode {
  return (
    <section className={styles.ingest} aria-label="Ingest address">
      {status === "Inactive" && <p className={shared.stale}>The sender is Inactive: posts are answered 422.</p>}
      <p>Producers post events to this address, with an API key in the header <code>X-API-Key</code>:</p>
      <Command text={ingestAddress(tenantId)} label="Copy the address" />
      <p>For example, in a shell:</p>
      <Command text={ingestCommand(tenantId)} />
      <p className={shared.small}>
        The token was shown when it was made. The relay keeps no copy of it; a lost one can only be replaced.
      </p>
    </section>
  );
}

/** Every change of a sender, the newest first. */
function SenderChanges({ id }: { readonly id: string }): ReactNode {
  const pages = usePages({
    queryKey: ["listSenderHistory", { id }], size: 50,
    ask: (page) => relay.listSenderHistory({ id, ...page, TpOrd: "Desc" }),
  });
  return (
    <Listed pages={pages} empty={null}>
      {(facts) => (
        <FactRows facts={facts}>
          {(fact) => <FactChange fact={fact} subject={{ type: "sender", id }} />}
        </FactRows>
      )}
    </Listed>
  );
}
