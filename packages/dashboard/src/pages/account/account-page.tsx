import { useState, type ReactNode } from "react";
import { relay } from "../../api/relay.ts";
import { PreferenceFields } from "../../app/preference-fields.tsx";
import { useMay, useMe } from "../../app/session.ts";
import type { Fields } from "../../parts/fields.ts";
import { Field, Form } from "../../parts/form.tsx";
import { Page } from "../../parts/page.tsx";
import { Moment } from "../../parts/time.tsx";
import shared from "../../style/shared.module.css";
import styles from "./account.module.css";

/** The signed-in person: the own password, the preferences of this browser, and the session. */
export function AccountPage(): ReactNode {
  const allows = useMay();
  return (
    <Page title="Account">
      <div className={styles.accountParts}>
        {allows("changePassword") && <Password />}
        <section aria-labelledby="preferences" className={styles.accountPart}>
          <h2 id="preferences">Preferences</h2>
          <p className={shared.small}>They are kept in this browser.</p>
          <div className={styles.accountPreferences}><PreferenceFields /></div>
        </section>
        <Session />
      </div>
    </Page>
  );
}

function Password(): ReactNode {
  const [isChanged, setChanged] = useState(false);
  const change = async ({ currentPassword = "", newPassword = "" }: Fields) => {
    setChanged(false);
    await relay.changePassword({ currentPassword, newPassword });
    setChanged(true);
  };
  return (
    <section aria-labelledby="password" className={styles.accountPart}>
      <h2 id="password">Password</h2>
      <Form submit={change} label="Change password">
        <Field name="currentPassword" label="Current password">
          {(props) => <input {...props} type="password" autoComplete="current-password" required />}
        </Field>
        <Field name="newPassword" label="New password" hint="Your other sessions and access tokens end at once.">
          {(props) => <input {...props} type="password" autoComplete="new-password" required />}
        </Field>
      </Form>
      <p role="status">{isChanged && "The new password holds. Your other sessions are over."}</p>
    </section>
  );
}

function Session(): ReactNode {
  const { principal, role, tenant, expiresAt } = useMe();
  return (
    <section aria-labelledby="session" className={styles.accountPart}>
      <h2 id="session">This session</h2>
      <dl className={styles.accountSession}>
        <div><dt>Signed in as</dt><dd>{principal.name ?? principal.id}</dd></div>
        <div><dt>Role</dt><dd>{role}</dd></div>
        <div><dt>Tenant</dt><dd>{tenant.name}</dd></div>
        {expiresAt !== null && <div><dt>Ends</dt><dd><Moment at={expiresAt} /></dd></div>}
      </dl>
      <p className={shared.small}>
        An open page renews it, for 30 days after you gave your password at most. To end your other sessions, change
        the password.
      </p>
    </section>
  );
}
