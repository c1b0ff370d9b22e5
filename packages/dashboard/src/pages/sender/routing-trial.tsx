import type { Schemas } from "@webhook-relay/client";
import { useState, type ReactNode } from "react";
import { relay } from "../../api/relay.ts";
import { DestinationLink } from "../../parts/destinations.tsx";
import type { Fields } from "../../parts/fields.ts";
import { Field, Form } from "../../parts/form.tsx";
import { JsonText } from "../../parts/json-text.tsx";
import { pairsIn } from "../../parts/pairs.ts";
import shared from "../../style/shared.module.css";
import styles from "./sender.module.css";

type Routing = Schemas["Routing"];

/** Each reason for which a subscription does not get a message. */
const reasons: Readonly<Record<Routing["skipped"][number]["reason"], string>> = {
  inactive: "it is switched off", "event type": "it does not name the event type", filter: "its filter does not match",
  "already reached": "the destination gets the message by another subscription",
};

/** Asks which subscriptions would get a message that a person types. Nothing is sent. */
export function RoutingTrial({ senderId, subscriptions }: {
  readonly senderId: string; readonly subscriptions: readonly Schemas["Subscription"][];
}): ReactNode {
  const [routing, setRouting] = useState<Routing>();
  const route = async ({ payload = "", eventType = "", ownerId = "", tags = "" }: Fields) => {
    setRouting(undefined);
    setRouting(await relay.testSubscriptions({
      senderId, payload, tags: pairsIn(tags), ...(eventType !== "" && { eventType }),
      ...(ownerId !== "" && { ownerId }),
    }));
  };
  return (
    <section aria-label="Who would get this?" className={styles.routing}>
      <h2>Who would get this?</h2>
      <div className={styles.routingSides}>
        <Form submit={route} label="Try it" keeps guarded={false}>
          <Field name="payload" label="Payload" hint="As a producer would post it. Nothing is stored or sent.">
            {(control) => <textarea {...control} rows={6} spellCheck={false} defaultValue={'{"amount": 120}'} />}
          </Field>
          <Field name="eventType" label="Event type (optional)">
            {(control) => <input {...control} autoComplete="off" placeholder="invoice.paid" />}
          </Field>
          <Field name="ownerId" label="Owner (optional)">
            {(control) => <input {...control} autoComplete="off" />}
          </Field>
          <Field name="tags" label="Tags (optional)" hint="A pair a line, such as region: eu.">
            {(control) => <textarea {...control} rows={2} spellCheck={false} />}
          </Field>
        </Form>
        <div role="status" aria-label="Its deliveries" className={shared.section}>
          {routing && <Routed routing={routing} subscriptions={subscriptions} />}
        </div>
      </div>
    </section>
  );
}

function Routed({ routing: { matched, skipped }, subscriptions }: {
  readonly routing: Routing; readonly subscriptions: readonly Schemas["Subscription"][];
}): ReactNode {
  return (
    <>
      <h3>{matched.length === 1 ? "1 destination" : `${matched.length || "No"} destinations`}</h3>
      {matched.map(({ subscriptionId, destinationUrlId, payload, problem }) => (
        <div key={subscriptionId} className={shared.section}>
          <p><DestinationLink id={destinationUrlId} /></p>
          {problem === null ? <JsonText text={JSON.stringify(payload)} label="Payload" />
            : <p className={shared.problem}>Its mapping fails, so this delivery would fail: {problem}</p>}
        </div>
      ))}
      {skipped.length > 0 && (
        <>
          <h3>Others</h3>
          <ul>
            {skipped.map(({ subscriptionId, reason }) => {
              const found = subscriptions.find(({ id }) => id === subscriptionId);
              return (
                <li key={subscriptionId}>
                  {found ? <DestinationLink id={found.destinationUrlId} /> : <code>{subscriptionId}</code>}:{" "}
                  {reasons[reason]}
                </li>
              );
            })}
          </ul>
        </>
      )}
    </>
  );
}
