import { useQueryClient } from "@tanstack/react-query";
import type { Schemas } from "@webhook-relay/client";
import { useState, type ReactNode } from "react";
import { relay } from "../../api/relay.ts";
import { useMay } from "../../app/session.ts";
import { Choices, wordOptions } from "../../parts/choices.tsx";
import { DestinationChoice, DestinationLink } from "../../parts/destinations.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { Field, Form } from "../../parts/form.tsx";
import { Listed, usePages } from "../../parts/listed.tsx";
import { useTargets } from "../../parts/names.tsx";
import { Confirm } from "../../parts/questions.tsx";
import { Empty, NoRight } from "../../parts/states.tsx";
import { actsHead, Table } from "../../parts/table.tsx";
import { Ago } from "../../parts/time.tsx";
import shared from "../../style/shared.module.css";
import styles from "./settings.module.css";

type Subscription = Schemas["NotificationSubscription"];
type NotificationType = Subscription["types"][number];

/** Each type of notification, and when it is sent. */
const meanings: Readonly<Record<NotificationType, string>> = {
  "destination.failing": "The fourth attempt in a row failed.",
  "destination.suspended": "The circuit opened: deliveries are held. A probe that fails is not told again.",
  "destination.recovered": "The circuit closed, by a delivered probe or by a person.",
  "destination.disabled": "The relay switched a destination off, since it only failed for the days that it is given.",
  "event.exhausted": "An event failed for good. At most one a minute for each destination, with the number of events.",
  "certificate.expiring": "A client certificate ends within 14 days.",
};
const types = Object.keys(meanings) as readonly NotificationType[];

const queryKey = ["listNotificationSubscriptions"];

/** The destinations that are told of failing destinations, and the types of notifications that each gets. */
export function Notifications(): ReactNode {
  const may = useMay();
  const queries = useQueryClient();
  const { nameOf } = useTargets();
  const [asks, setAsks] = useState<"create" | Subscription>();
  const pages = usePages({ queryKey, ask: (page) => relay.listNotificationSubscriptions(page) });
  const close = () => setAsks(undefined);
  const changed = () => queries.invalidateQueries({ queryKey });
  const create = may("createNotificationSubscription") && (
    <button type="button" className={shared.primary} onClick={() => setAsks("create")}>New subscription…</button>
  );
  return (
    <section aria-label="Notifications" className={shared.section}>
      <div className={shared.sectionHead}>
        <p className={shared.small}>
          Webhooks of the relay itself about your destinations, such as to a chat or an on-call service.
        </p>
        {create}
      </div>
      {!create && <NoRight>Developers, Admins and Owners subscribe destinations to notifications.</NoRight>}
      <Listed
        pages={pages}
        empty={(
          <Empty act={create}>No destination gets notifications: failures show here and in the log of the relay.</Empty>
        )}
      >
        {(subscriptions) => (
          <Table
            stacked rows={subscriptions} keyOf={({ id }) => id}
            columns={[
              { head: "Sent to", kind: "main", cell: ({ destinationUrlId: id }) => <DestinationLink id={id} /> },
              {
                head: "Types", className: styles.types,
                cell: (each) => each.types.map((type) => <code key={type} title={meanings[type]}>{type}</code>),
              },
              { head: "Created", label: "Created", cell: ({ createdAt }) => <Ago to={createdAt} /> },
              {
                head: actsHead, kind: "acts", cell: (each) => may("deleteNotificationSubscription") && (
                  <button
                    type="button" className={shared.danger} onClick={() => setAsks(each)}
                    aria-label={`Delete the subscription of ${nameOf(each.destinationUrlId)}…`}
                  >
                    Delete…
                  </button>
                ),
              },
            ]}
          />
        )}
      </Listed>
      <h2>Types</h2>
      <dl className={styles.meanings}>
        {types.map((type) => <div key={type}><dt><code>{type}</code></dt><dd>{meanings[type]}</dd></div>)}
      </dl>
      {asks === "create" && <NewSubscription close={close} changed={changed} />}
      {typeof asks === "object" && (
        <Confirm title="Delete the subscription?" act="Delete it" close={close} run={async () => {
          await relay.deleteNotificationSubscription({ id: asks.id });
          await changed();
        }}>
          <p className={shared.wraps}>{nameOf(asks.destinationUrlId)}</p>
          <p>It gets no further notifications. Those that were accepted before are still delivered.</p>
        </Confirm>
      )}
    </section>
  );
}

function NewSubscription({ close, changed }: {
  readonly close: () => void; readonly changed: () => Promise<void>;
}): ReactNode {
  const [chosen, setChosen] = useState(types);
  const subscribe = async ({ destinationUrlId = "" }: Readonly<Record<string, string>>) => {
    if (chosen.length === 0) throw new Error("Choose at least one type.");
    await relay.createNotificationSubscription({ destinationUrlId, types: [...chosen] });
    close();
    await changed();
  };
  return (
    <Dialog title="New subscription" close={close}>
      <Form submit={subscribe} label="Subscribe" cancel={close} keeps>
        <Field
          name="destinationUrlId" label="Sent to"
          hint="A destination that does not fail with the others. Notifications are signed and retried like any event."
        >
          {(control) => <DestinationChoice control={control} />}
        </Field>
        <Choices legend="Types" options={wordOptions(meanings)} chosen={chosen} choose={setChosen} />
      </Form>
    </Dialog>
  );
}
