import type { Schemas } from "@webhook-relay/client";
import { useState, type ReactNode } from "react";
import { usePreferences } from "../../app/preferences.tsx";
import { Checkboxes, wordOptions } from "../../parts/choices.tsx";
import { ExpiryField, expiryOf } from "../../parts/expiry.tsx";
import { Field, Form } from "../../parts/form.tsx";
import formStyles from "../../parts/form.module.css";
import styles from "./keys.module.css";

type Body = Schemas["CreateServiceKeyRequest"];
type Scope = NonNullable<Body["scopes"]>[number];

/** All scopes of the API, and the rights of each. */
const scopes: Readonly<Record<Scope, string>> = {
  "events:read": "events and their attempts, totals",
  "events:write": "also replay, cancel and purge events",
  "destinations:read": "destinations",
  "destinations:write": "also change them and their ingest tokens",
  "senders:read": "senders and their mappings",
  "senders:write": "also change them and their ingest tokens",
  "users:read": "users and invites",
  "users:write": "also change them, and so become any person up to the account’s role: set a password, then sign in",
  "audit:read": "the audit and all histories",
  "portal:write": "links to the portal",
};

/** Asks for a service key. */
export function ServiceKeyForm({ create, cancel }: {
  readonly create: (body: Body) => Promise<void>;
  readonly cancel: () => void;
}): ReactNode {
  const { zone } = usePreferences();
  const [chosen, setChosen] = useState<readonly Scope[] | null>(null);
  const submit = async ({ name = "", expiresAt }: Readonly<Record<string, string>>) => {
    if (chosen?.length === 0) throw new Error("Choose at least one scope.");
    await create({ name, ...expiryOf(expiresAt, zone), ...(chosen && { scopes: [...chosen] }) });
  };
  return (
    <Form submit={submit} label="Create" cancel={cancel} keeps>
      <Field name="name" label="Name">
        {(props) => <input {...props} required maxLength={255} autoComplete="off" />}
      </Field>
      <fieldset className={formStyles.choices}>
        <legend>What the key may do</legend>
        <label>
          <input type="radio" name="limit" checked={chosen === null} onChange={() => setChosen(null)} />
          All that the account’s role may
        </label>
        <label>
          <input type="radio" name="limit" checked={chosen !== null} onChange={() => setChosen([])} />
          Only these scopes
        </label>
        {chosen !== null && (
          <div className={styles.chosen}>
            <Checkboxes options={wordOptions(scopes)} chosen={chosen} choose={setChosen} />
          </div>
        )}
      </fieldset>
      <ExpiryField />
    </Form>
  );
}
