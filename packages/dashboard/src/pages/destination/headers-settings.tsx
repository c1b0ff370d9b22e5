import type { Schemas } from "@webhook-relay/client";
import type { ReactNode } from "react";
import { useMay } from "../../app/session.ts";
import { Field } from "../../parts/form.tsx";
import { headersIn, pairsText } from "../../parts/pairs.ts";
import styles from "./destination.module.css";
import { SettingsForm, SettingsGroup, SettingsList } from "./settings-group.tsx";
import { waitingText } from "./waiting.ts";

/** The headers that each attempt carries besides those of the relay. */
export function HeadersSettings({ destination }: { readonly destination: Schemas["Destination"] }): ReactNode {
  const { headers, health } = destination;
  const mayChange = useMay()("updateDestination");
  const names = Object.keys(headers);
  return (
    <SettingsGroup
      title="Headers" about="Sent with every attempt, beside those of the relay. Their values are never shown."
      affects={waitingText(health, "A change applies from the next attempt on.", "They are sent with the new ones.")}
    >
      {mayChange ? (
        <SettingsForm
          destination={destination} values={{ headers: pairsText(headers) }}
          changesOf={({ headers: text = "" }) => ({ headers: headersIn(text) })}
        >
          <Field
            name="headers" label="Headers"
            hint={(
              <>
                One a line, such as X-Region: eu; 20 at most. <code>***</code> keeps the stored value. Remove a line to
                remove its header.
              </>
            )}
          >
            {(props) => <textarea {...props} rows={Math.max(3, names.length + 1)} spellCheck={false} />}
          </Field>
        </SettingsForm>
      ) : <SettingsList settings={[["Headers", <span className={styles.lines}>{names.join("\n") || "none"}</span>]]} />}
    </SettingsGroup>
  );
}
