import { useState, type ReactNode } from "react";
import type { Schemas } from "../../../../client/src/index.ts";
import { relay } from "../../api/relay.ts";
import { Field, Form } from "../../parts/form.tsx";
import { DestinationChoice, DestinationLink } from "../senders/destination.tsx";
import { useSenderChanged } from "./changed.ts";

const mostSearchFields = 5;

/** Name, destination and search fields of a sender, and their form for people who may change them. */
export function SenderSettings({ sender, mayChange }: {
  readonly sender: Schemas["Sender"]; readonly mayChange: boolean;
}): ReactNode {
  return mayChange ? <SettingsForm sender={sender} /> : <Settings sender={sender} />;
}

function SettingsForm({ sender }: { readonly sender: Schemas["Sender"] }): ReactNode {
  const changed = useSenderChanged();
  const [saved, setSaved] = useState(false);
  return (
    <Form label="Save" keeps submit={async (fields) => {
      setSaved(false);
      await relay.updateSender({ id: sender.id }, {
        name: fields["name"] ?? "",
        destinationUrlId: fields["destinationUrlId"] ?? "",
        searchFields: searchFieldsIn(fields),
      });
      await changed();
      setSaved(true);
    }}>
      <Field name="name" label="Name">
        {(control) => <input {...control} required autoComplete="off" defaultValue={sender.name} />}
      </Field>
      <Field name="destinationUrlId" label="Destination" hint="Events that it has accepted keep theirs.">
        {(control) => <DestinationChoice control={control} chosen={sender.destinationUrlId} />}
      </Field>
      <fieldset className="search-fields">
        <legend>Search fields</legend>
        <p className="small">
          Fields of received bodies that become tags of the events, by which lists are filtered. An empty row is none.
        </p>
        {Array.from({ length: mostSearchFields }, (_, row) => (
          <div key={row} className="search-field">
            <Field name={`searchFields.${row}.name`} label={`Tag ${row + 1}`}>
              {(control) => (
                <input
                  {...control} autoComplete="off" placeholder="order" defaultValue={sender.searchFields[row]?.name}
                />
              )}
            </Field>
            <Field name={`searchFields.${row}.path`} label={`Path ${row + 1}`}>
              {(control) => (
                <input
                  {...control} className="mono" autoComplete="off" placeholder="/order/id"
                  defaultValue={sender.searchFields[row]?.path}
                />
              )}
            </Field>
          </div>
        ))}
      </fieldset>
      {saved && <p role="status" className="ok">Saved.</p>}
    </Form>
  );
}

/** The search fields of a submission, in the order of their rows; a row counts unless both of its fields are empty. */
function searchFieldsIn(fields: Readonly<Record<string, string>>): Schemas["Sender"]["searchFields"] {
  return Array.from({ length: mostSearchFields }, (_, row) => ({
    name: fields[`searchFields.${row}.name`] ?? "", path: fields[`searchFields.${row}.path`] ?? "",
  })).filter(({ name, path }) => name !== "" || path !== "");
}

function Settings({ sender }: { readonly sender: Schemas["Sender"] }): ReactNode {
  return (
    <dl className="sender-settings">
      <div><dt>Name</dt><dd>{sender.name}</dd></div>
      <div>
        <dt>Destination</dt>
        <dd><DestinationLink id={sender.destinationUrlId} at={sender.asOf?.position} /></dd>
      </div>
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
