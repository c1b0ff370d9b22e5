import type { Schemas } from "@webhook-relay/client";
import type { ReactNode } from "react";
import { relay } from "../../api/relay.ts";
import { useMay } from "../../app/session.ts";
import { authOf, AuthFields, authTitle } from "../../parts/auth-fields.tsx";
import { ChangedSince } from "../../parts/changed-since.tsx";
import { useQuestion } from "../../parts/dialog.tsx";
import type { Fields } from "../../parts/fields.ts";
import { Field, Form } from "../../parts/form.tsx";
import { Moment } from "../../parts/time.tsx";
import shared from "../../style/shared.module.css";
import styles from "./destination.module.css";
import { switchOff } from "./switch-off.tsx";
import { useUpdate } from "./use-destination.ts";

/** The settings of a destination. Only changed ones are sent. */
export function Settings({ destination }: { readonly destination: Schemas["Destination"] }): ReactNode {
  const { id, url, serverRateLimit, authType, status, createdAt, updatedAt } = destination;
  const mayDo = useMay();
  const update = useUpdate(id);
  const { ask, dialog } = useQuestion();
  const save = async (fields: Fields, changed: Fields) => {
    if (changed["status"] === "inactive" && !await ask(switchOff(url))) return false;
    return update({
      ...(changed["url"] !== undefined && { url: changed["url"] }),
      ...(changed["serverRateLimit"] !== undefined && { serverRateLimit: Number(changed["serverRateLimit"]) }),
      ...(changed["status"] !== undefined && { status: changed["status"] === "inactive" ? "inactive" : "active" }),
      ...authOf(fields, authType),
    });
  };
  if (!mayDo("updateDestination")) {
    return (
      <dl className={styles.settingsThen}>
        <div><dt>URL</dt><dd>{url}</dd></div>
        <div><dt>Concurrent requests</dt><dd>{serverRateLimit}</dd></div>
        <div><dt>Authentication</dt><dd>{authTitle(authType)}</dd></div>
        <div><dt>Status</dt><dd>{status}</dd></div>
      </dl>
    );
  }
  return (
    <section aria-label="Settings" className={styles.destinationSection}>
      <Form
        submit={save} label="Save" keeps
        of={{
          values: {
            url, serverRateLimit: String(serverRateLimit), status: status === "Inactive" ? "inactive" : "active",
            authType: authType ?? "",
          },
          updatedAt,
          changedSince: (moment) => (
            <ChangedSince
              moment={moment} operation="listDestinationHistory" id={id}
              ask={(newest) => relay.listDestinationHistory({ id, ...newest })}
            />
          ),
        }}
      >
        <Field name="url" label="URL" hint="Where events are posted to, by HTTPS.">
          {(props) => <input {...props} inputMode="url" autoComplete="off" />}
        </Field>
        <Field name="serverRateLimit" label="Concurrent requests" hint="Most requests in flight at the same time.">
          {(props) => <input {...props} type="number" />}
        </Field>
        <Field
          name="status" label="Status" hint={status === "Suspended" ? "Its circuit is open: see Circuit." : undefined}
        >
          {(props) => (
            <select {...props}>
              <option value="active">on</option>
              <option value="inactive">off: events are held, and posts refused</option>
            </select>
          )}
        </Field>
        <AuthFields stored={authType} />
      </Form>
      {dialog}
      <p className={shared.small}>Created <Moment at={createdAt} />, changed last <Moment at={updatedAt} />.</p>
    </section>
  );
}
