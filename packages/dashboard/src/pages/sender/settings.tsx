import type { Schemas } from "@webhook-relay/client";
import type { ReactNode } from "react";
import { relay } from "../../api/relay.ts";
import { DestinationChoice, SenderTarget } from "../../parts/destinations.tsx";
import type { Fields } from "../../parts/fields.ts";
import { Field, Form } from "../../parts/form.tsx";
import shared from "../../style/shared.module.css";
import { FanOutFields, unmatchedWords } from "../senders/fan-out-fields.tsx";
import { SenderChangedSince, useSenderChanged } from "./changed.tsx";
import styles from "./sender.module.css";

const mostSearchFields = 5;

/** Name, destination and search fields of a sender, and their form for people who may change them. */
export function SenderSettings({ sender, mayChange }: {
  readonly sender: Schemas["Sender"]; readonly mayChange: boolean;
}): ReactNode {
  return mayChange ? <SettingsForm sender={sender} /> : <Settings sender={sender} />;
}

function SettingsForm({ sender }: { readonly sender: Schemas["Sender"] }): ReactNode {
  const { id, name, destinationUrlId, searchFields, fanOut, eventTypePath, unmatched, updatedAt } = sender;
  const changed = useSenderChanged();
  return (
    <Form
      label="Save" keeps
      of={{
        values: {
          name, ...(destinationUrlId !== null && { destinationUrlId }),
          ...(fanOut && { eventTypePath: eventTypePath ?? "", unmatched: unmatched ?? "accept" }),
          ...textsOf(searchFields),
        },
        updatedAt,
        changedSince: (moment) => <SenderChangedSince id={id} moment={moment} />,
      }}
      submit={async (_fields, changes) => {
        const { name: newName, destinationUrlId: newDestination, eventTypePath: path, unmatched: other } = changes;
        const changesFields = Object.keys(changes).some((field) => field.startsWith("searchFields."));
        // They are saved as one list, so the rows that this person did not change are read anew.
        const present = changesFields && textsOf((await relay.getSender({ id })).searchFields);
        await relay.updateSender({ id }, {
          ...(newName !== undefined && { name: newName }),
          ...(newDestination !== undefined && { destinationUrlId: newDestination }),
          ...(path !== undefined && { eventTypePath: path === "" ? null : path }),
          ...(other !== undefined && { unmatched: other === "refuse" ? "refuse" : "accept" }),
          ...(present && { searchFields: searchFieldsIn({ ...present, ...changes }) }),
        });
        await changed();
      }}
    >
      <Field name="name" label="Name">
        {(control) => <input {...control} required autoComplete="off" />}
      </Field>
      {destinationUrlId !== null && (
        <Field name="destinationUrlId" label="Destination" hint="Events that it has accepted keep theirs.">
          {(control) => <DestinationChoice control={control} chosen={destinationUrlId} />}
        </Field>
      )}
      {fanOut && <FanOutFields />}
      <fieldset className={styles.searchFields}>
        <legend>Search fields</legend>
        <p className={shared.small}>
          Fields of received bodies that become tags of the events, by which lists are filtered. An empty row is none.
        </p>
        {Array.from({ length: mostSearchFields }, (_, row) => (
          <div key={row} className={styles.searchField}>
            <Field name={`searchFields.${row}.name`} label={`Tag ${row + 1}`}>
              {(control) => <input {...control} autoComplete="off" placeholder="order" />}
            </Field>
            <Field name={`searchFields.${row}.path`} label={`Path ${row + 1}`}>
              {(control) => <input {...control} className={shared.mono} autoComplete="off" placeholder="/order/id" />}
            </Field>
          </div>
        ))}
      </fieldset>
    </Form>
  );
}

/** The texts of search fields by the names of their form's fields, of rows that are empty, too. */
function textsOf(searchFields: Schemas["Sender"]["searchFields"]): Fields {
  const rows = Array.from({ length: mostSearchFields }, (_, row) => searchFields[row] ?? { name: "", path: "" });
  return Object.fromEntries(rows.flatMap(({ name, path }, row): [string, string][] => [
    [`searchFields.${row}.name`, name], [`searchFields.${row}.path`, path],
  ]));
}

/** The search fields of a submission, in the order of their rows; a row counts unless both of its fields are empty. */
function searchFieldsIn(fields: Fields): Schemas["Sender"]["searchFields"] {
  return Array.from({ length: mostSearchFields }, (_, row) => ({
    name: fields[`searchFields.${row}.name`] ?? "", path: fields[`searchFields.${row}.path`] ?? "",
  })).filter(({ name, path }) => name !== "" || path !== "");
}

function Settings({ sender }: { readonly sender: Schemas["Sender"] }): ReactNode {
  return (
    <dl className={styles.senderSettings}>
      <div><dt>Name</dt><dd>{sender.name}</dd></div>
      <div>
        <dt>Destination</dt>
        <dd><SenderTarget sender={sender} /></dd>
      </div>
      {sender.fanOut && (
        <>
          <div>
            <dt>Event type in the body</dt>
            <dd>{sender.eventTypePath ? <code>{sender.eventTypePath}</code> : "none"}</dd>
          </div>
          <div><dt>Messages without a match</dt><dd>{unmatchedWords[sender.unmatched ?? "accept"]}</dd></div>
        </>
      )}
      <div>
        <dt>Search fields</dt>
        <dd>
          {sender.searchFields.length === 0 ? "none" : sender.searchFields.map(({ name, path }) => (
            <div key={name}><code>{name}</code> from <code>{path}</code></div>
          ))}
        </dd>
      </div>
    </dl>
  );
}
