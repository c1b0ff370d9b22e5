import type { Schemas } from "@webhook-relay/client";
import type { ReactNode } from "react";
import { isPortal } from "../../api/relay.ts";
import { useMay } from "../../app/session.ts";
import { Field } from "../../parts/form.tsx";
import { pairsIn, pairsText } from "../../parts/pairs.ts";
import styles from "./destination.module.css";
import { textOf, textsIn } from "./setting-texts.ts";
import { SettingsForm, SettingsGroup, SettingsList } from "./settings-group.tsx";

/** Name, description, customer and metadata of a destination. */
export function IdentitySettings({ destination }: { readonly destination: Schemas["Destination"] }): ReactNode {
  const { name, description, ownerId, metadata } = destination;
  const mayChange = useMay()("updateDestination");
  const pairs = pairsText(metadata);
  return (
    <SettingsGroup
      title="Identity" about="For people and for your own systems."
      affects="No delivery depends on it: events that wait are not affected."
    >
      {mayChange ? (
        <SettingsForm
          destination={destination}
          values={{
            name: textOf(name), description: textOf(description), ownerId: textOf(ownerId), metadata: pairs,
          }}
          changesOf={(changed) => ({
            ...textsIn(changed, "name", "description", "ownerId"),
            ...(changed["metadata"] !== undefined && { metadata: pairsIn(changed["metadata"]) }),
          })}
        >
          <Field name="name" label="Name" hint="It stands in the place of the URL in lists and choices.">
            {(props) => <input {...props} autoComplete="off" />}
          </Field>
          <Field name="description" label="Description">
            {(props) => <textarea {...props} className={styles.prose} rows={2} />}
          </Field>
          {!isPortal && (
            <Field name="ownerId" label="Customer" hint="Your own name for the customer that it belongs to.">
              {(props) => <input {...props} autoComplete="off" />}
            </Field>
          )}
          <Field name="metadata" label="Metadata" hint="A pair a line, such as team: billing. 20 pairs at most.">
            {(props) => <textarea {...props} rows={3} spellCheck={false} />}
          </Field>
        </SettingsForm>
      ) : (
        <SettingsList settings={[
          ["Name", name ?? "none"], ["Description", description], ["Customer", isPortal ? null : ownerId],
          ["Metadata", pairs === "" ? null : <span className={styles.lines}>{pairs}</span>],
        ]}
        />
      )}
    </SettingsGroup>
  );
}
