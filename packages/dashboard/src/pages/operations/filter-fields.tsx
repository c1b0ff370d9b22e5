import { useSearch } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { usePreferences } from "../../app/preferences.tsx";
import type { OrderField } from "../../app/search.ts";
import { Field } from "../../parts/form.tsx";
import { TargetOptions, useTargets } from "../../parts/names.tsx";
import { statusesText, statusWord } from "../../parts/status-words.ts";
import { TimeInput } from "../../parts/time-input.tsx";
import { zoneName } from "../../parts/times.ts";
import type { Kind } from "./kinds.ts";
import styles from "./operations.module.css";

const statuses: Readonly<Record<Kind, Readonly<Record<string, string>>>> = {
  replay: {
    "": statusWord("CriticalFailure"), Succeeded: statusWord("Succeeded"),
    Cancelled: `${statusWord("Cancelled")}, only to another destination`,
  },
  cancel: {
    "": statusesText(["Pending", "WaitingRetry"]), Pending: statusWord("Pending"),
    WaitingRetry: statusWord("WaitingRetry"),
  },
  purge: {
    "": statusesText(["Succeeded", "CriticalFailure", "Cancelled"]), Succeeded: statusWord("Succeeded"),
    CriticalFailure: statusWord("CriticalFailure"), Cancelled: statusWord("Cancelled"),
  },
};

/** The fields of an operation's filter, filled from the address. */
export function FilterFields({ kind }: { readonly kind: Kind }): ReactNode {
  const { zone } = usePreferences();
  const search = useSearch({ from: "/signed-in/operations" });
  const { destinations, senders } = useTargets();
  const text = (name: OrderField, label: string, example?: string) => (
    <Field name={name} label={label}>
      {(props) => <input {...props} defaultValue={search[name] ?? ""} placeholder={example} autoComplete="off" />}
    </Field>
  );
  const moment = (name: OrderField, label: string) => (
    <Field name={name} label={`${label}, ${zoneName(zone)}`}>
      {(props) => <TimeInput {...props} at={search[name]} />}
    </Field>
  );
  const target = (name: OrderField, label: string, any: string, targets: typeof destinations) => (
    <Field name={name} label={label}>
      {(props) => (
        <select {...props} defaultValue={search[name] ?? ""}>
          <TargetOptions targets={targets} any={any} chosen={search[name] ?? ""} />
        </select>
      )}
    </Field>
  );
  return (
    <div className={styles.operationFields}>
      <Field name="status" label="Status">
        {(props) => (
          <select {...props} defaultValue={search["status"] ?? ""}>
            {Object.entries(statuses[kind]).map(([value, label]) => <option key={value} value={value}>{label}</option>)}
          </select>
        )}
      </Field>
      {target("destinationUrlId", "Destination", "any destination", destinations)}
      {target("senderId", "Sender", "any sender, or none", senders)}
      {text("eventType", "Type of event", "order.paid")}
      {kind === "purge" ? moment("before", "Accepted before") : (
        <>{moment("from", "Accepted from")}{moment("to", "Accepted up to")}</>
      )}
      {moment("finishedFrom", "Finished from")}
      {moment("finishedTo", "Finished up to")}
      {text("tags", "Tags", "order:4711, shop:7")}
      {text("ownerId", "Owner", "customer-12")}
      {text("messageId", "Message", "a message's id")}
      {text("correlationId", "Request", "a request's id")}
      {kind === "replay" && target("toDestinationUrlId", "Send to", "where each was for", destinations)}
      {kind === "replay" && text("perSecond", "Events a second, at most", "50 if empty")}
    </div>
  );
}
