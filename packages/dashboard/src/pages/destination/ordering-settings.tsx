import type { Schemas } from "@webhook-relay/client";
import { useState, type ReactNode } from "react";
import { useMay } from "../../app/session.ts";
import type { Fields } from "../../parts/fields.ts";
import { Field } from "../../parts/form.tsx";
import { changesPart } from "./setting-texts.ts";
import { SettingsForm, SettingsGroup, SettingsList } from "./settings-group.tsx";
import { waitingText } from "./waiting.ts";

type Ordering = Schemas["Destination"]["ordering"];
type Kind = "none" | "destination" | "key";

/** Each kind of ordering in words. */
const kinds: Readonly<Record<Kind, string>> = {
  none: "none: several events at the same time",
  destination: "one event after the other",
  key: "one after the other for each value in the payload",
};

/** The order in which events are delivered. */
export function OrderingSettings({ destination }: { readonly destination: Schemas["Destination"] }): ReactNode {
  const { ordering, health } = destination;
  const mayChange = useMay()("updateDestination");
  const values = textsOf(ordering);
  const [kind, choose] = useState(values["ordering"]);
  return (
    <SettingsGroup
      title="Order"
      about="The next event is sent once the one before is delivered or given up, so a failing one delays the rest."
      affects={waitingText(
        health, "It cannot change while events wait.", "let them be delivered, or cancel them, before you change it.")}
    >
      {mayChange ? (
        <SettingsForm
          destination={destination} values={values}
          changesOf={(changed, fields) => changesPart(changed, "ordering") ? { ordering: orderingIn(fields) } : {}}
        >
          <Field name="ordering" label="Order of deliveries">
            {(props) => (
              <select {...props} onChange={({ target }) => choose(target.value)}>
                {Object.entries(kinds).map(([each, words]) => <option key={each} value={each}>{words}</option>)}
              </select>
            )}
          </Field>
          {kind === "key" && (
            <Field
              name="ordering.by" label="Value in the payload"
              hint="A JSON Pointer such as /customer/id. Events without a value there are in one order of their own."
            >
              {(props) => <input {...props} autoComplete="off" spellCheck={false} placeholder="/customer/id" />}
            </Field>
          )}
        </SettingsForm>
      ) : (
        <SettingsList settings={[
          ["Order", kinds[kindOf(ordering)]], ["Value in the payload", values["ordering.by"] || null],
        ]}
        />
      )}
    </SettingsGroup>
  );
}

function kindOf(ordering: Ordering): Kind {
  return typeof ordering === "string" ? ordering : "key";
}

function textsOf(ordering: Ordering): Fields {
  return { ordering: kindOf(ordering), "ordering.by": typeof ordering === "string" ? "" : ordering.by };
}

function orderingIn(fields: Fields): Ordering {
  const { ordering } = fields;
  if (ordering === "key") return { by: fields["ordering.by"] ?? "" };
  return ordering === "destination" ? ordering : "none";
}
