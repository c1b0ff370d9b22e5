import { useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { Schemas } from "@webhook-relay/client";
import { useState, type ReactNode } from "react";
import { isPortal, relay } from "../../api/relay.ts";
import { useMay } from "../../app/session.ts";
import { DestinationLink } from "../../parts/destinations.tsx";
import { Listed, usePages } from "../../parts/listed.tsx";
import { useTargets } from "../../parts/names.tsx";
import { Confirm } from "../../parts/questions.tsx";
import { Empty, NoRight, textOf } from "../../parts/states.tsx";
import { Status } from "../../parts/status.tsx";
import { actsHead, Table } from "../../parts/table.tsx";
import shared from "../../style/shared.module.css";
import { useFanOutSenders } from "./fan-out-senders.ts";
import { ChangeSubscription, NewSubscription, type Shared } from "./subscription-form.tsx";
import styles from "./subscriptions.module.css";

type Subscription = Schemas["Subscription"];
type Asked = { readonly act: "create" } | { readonly act: "change" | "delete"; readonly of: Subscription };

/** The subscriptions to a sender, or of a destination. `children` follow a list that is not empty. */
export function Subscriptions({ of, children }: {
  readonly of: Shared; readonly children?: (subscriptions: readonly Subscription[]) => ReactNode;
}): ReactNode {
  const ofSender = "senderId" in of;
  const may = useMay();
  const queries = useQueryClient();
  const senders = useFanOutSenders();
  const { nameOf } = useTargets();
  const [asked, setAsked] = useState<Asked>();
  const [problem, setProblem] = useState("");
  const filter = ofSender ? { SenderId: of.senderId } : { DestinationUrlId: of.destinationUrlId };
  const pages = usePages({
    queryKey: ["listSubscriptions", filter], ask: (page) => relay.listSubscriptions({ ...page, ...filter }),
  });
  const changed = () => queries.invalidateQueries({ queryKey: ["listSubscriptions"] });
  const close = () => setAsked(undefined);
  const turn = ({ id, status }: Subscription) => {
    setProblem("");
    relay.updateSubscription({ id }, { status: status === "Active" ? "inactive" : "active" }).then(changed)
      .catch((error: unknown) => setProblem(textOf(error)));
  };
  const create = may("createSubscription") && (ofSender || senders.length > 0) && (
    <button type="button" className={shared.primary} onClick={() => setAsked({ act: "create" })}>
      New subscription…
    </button>
  );
  const turns = ({ status }: Subscription) => status === "Active" ? "Switch off" : "Switch on";
  const senderOf = (id: string) => senders.find((sender) => sender.id === id)?.name;
  const nameFor = ({ senderId, destinationUrlId, ownerId, eventTypes }: Subscription) => {
    const name = ofSender ? nameOf(destinationUrlId) : senderOf(senderId) ?? eventTypes?.join(", ") ?? "all types";
    return ownerId === null || isPortal ? name : `${name} for ${ownerId}`;
  };
  // Customers change nothing that the tenant subscribed itself.
  const mayChange = ({ ownerId }: Subscription) => may("updateSubscription") && !(isPortal && ownerId === null);
  return (
    <section aria-label="Subscriptions" className={shared.section}>
      <div className={shared.sectionHead}>
        <p className={shared.small}>
          {ofSender
            ? "A message goes to every destination with a subscription that matches, and to each of them once."
            : "A message comes here if one of these subscriptions matches it."}
        </p>
        {create}
      </div>
      {!create && <NoRight>Developers, Admins and Owners subscribe destinations.</NoRight>}
      {problem !== "" && <p className={shared.problem} role="alert">{problem}</p>}
      <Listed
        pages={pages}
        empty={(
          <Empty act={create}>
            No subscription yet: {ofSender ? "its messages reach no destination." : "no message comes here by one."}
          </Empty>
        )}
      >
        {(subscriptions) => (
          <>
            <Table
              stacked rows={subscriptions} keyOf={({ id }) => id}
              columns={[
                {
                  head: ofSender ? "Destination" : "Sender", kind: "main",
                  cell: ({ destinationUrlId: to, senderId: from }) =>
                    ofSender ? <DestinationLink id={to} /> : <SenderName id={from} name={senderOf(from)} />,
                },
                ...isPortal ? [] : [{
                  head: "Owner", label: "Owner",
                  cell: ({ ownerId }: Subscription) => ownerId ?? <small>every owner</small>,
                }],
                {
                  head: "Event types", className: styles.types,
                  cell: ({ eventTypes }) => eventTypes?.map((type) => <code key={type}>{type}</code>)
                    ?? <small>all types</small>,
                },
                {
                  head: "Filter", className: styles.filter,
                  cell: ({ filter }) => filter ? <code>{JSON.stringify(filter)}</code> : <small>no filter</small>,
                },
                { head: "Status", cell: ({ status }) => <Status value={status} /> },
                {
                  head: actsHead, kind: "acts", cell: (each) => (
                    <>
                      {mayChange(each) && (
                        <button
                          type="button" aria-label={`Change the subscription of ${nameFor(each)}…`}
                          onClick={() => setAsked({ act: "change", of: each })}
                        >
                          Change…
                        </button>
                      )}
                      {mayChange(each) && (
                        <button
                          type="button" aria-label={`${turns(each)}: the subscription of ${nameFor(each)}`}
                          onClick={() => turn(each)}
                        >
                          {turns(each)}
                        </button>
                      )}
                      {mayChange(each) && may("deleteSubscription") && (
                        <button
                          type="button" className={shared.danger}
                          aria-label={`Delete the subscription of ${nameFor(each)}…`}
                          onClick={() => setAsked({ act: "delete", of: each })}
                        >
                          Delete…
                        </button>
                      )}
                    </>
                  ),
                },
              ]}
            />
            {children?.(subscriptions)}
          </>
        )}
      </Listed>
      {asked?.act === "create" && <NewSubscription of={of} close={close} changed={changed} />}
      {asked?.act === "change" && <ChangeSubscription of={asked.of} close={close} changed={changed} />}
      {asked?.act === "delete" && (
        <Confirm title="Delete the subscription?" act="Delete it" close={close} run={async () => {
          await relay.deleteSubscription({ id: asked.of.id });
          await changed();
        }}>
          <p className={shared.wraps}>{nameFor(asked.of)}</p>
          <p>It gets no further messages. Deliveries that were accepted before are still sent.</p>
        </Confirm>
      )}
    </section>
  );
}

function SenderName({ id, name }: { readonly id: string; readonly name: string | undefined }): ReactNode {
  const may = useMay();
  if (!may("getSender")) return name ?? "messages to you";
  return <Link to="/senders/$id" params={{ id }}>{name ?? <code>{id}</code>}</Link>;
}
