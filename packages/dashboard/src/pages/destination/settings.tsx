import { useState, type ReactNode } from "react";
import type { BodyOf, Schemas } from "../../../../client/src/index.ts";
import { useMay } from "../../app/session.ts";
import { authOf, AuthFields, authTitle } from "../../parts/auth-fields.tsx";
import { Field, Form } from "../../parts/form.tsx";
import { Moment } from "../../parts/time.tsx";
import { useUpdate } from "./use-destination.ts";

/** The settings of a destination. Only changed ones are sent. */
export function Settings({ destination }: { readonly destination: Schemas["Destination"] }): ReactNode {
  const { id, url, serverRateLimit, authType, status, createdAt, updatedAt } = destination;
  const mayDo = useMay();
  const update = useUpdate(id);
  const [said, setSaid] = useState("");
  const save = async (fields: Readonly<Record<string, string>>) => {
    setSaid("");
    const changes = changesTo(destination, fields);
    if (Object.keys(changes).length === 0) return setSaid("Nothing has changed.");
    await update(changes);
    setSaid("Saved.");
  };
  if (!mayDo("updateDestination")) {
    return (
      <dl className="settings-then">
        <div><dt>URL</dt><dd>{url}</dd></div>
        <div><dt>Requests at once</dt><dd>{serverRateLimit}</dd></div>
        <div><dt>Authentication</dt><dd>{authTitle(authType)}</dd></div>
        <div><dt>Status</dt><dd>{status}</dd></div>
      </dl>
    );
  }
  return (
    <section aria-label="Settings" className="destination-section">
      <Form key={updatedAt} submit={save} label="Save" keeps>
        <Field name="url" label="URL" hint="Where events are posted to, by HTTPS.">
          {(props) => <input {...props} defaultValue={url} inputMode="url" autoComplete="off" />}
        </Field>
        <Field name="serverRateLimit" label="Requests at once" hint="Most requests in flight at the same time.">
          {(props) => <input {...props} type="number" defaultValue={serverRateLimit} />}
        </Field>
        <Field
          name="status" label="Status" hint={status === "Suspended" ? "Its circuit is open: see Circuit." : undefined}
        >
          {(props) => (
            <select {...props} defaultValue={switchOf(destination)}>
              <option value="active">on</option>
              <option value="inactive">off: events are held, and posts refused</option>
            </select>
          )}
        </Field>
        <AuthFields stored={authType} />
      </Form>
      <p role="status">{said}</p>
      <p className="small">Created <Moment at={createdAt} />, changed last <Moment at={updatedAt} />.</p>
    </section>
  );
}

function switchOf({ status }: Schemas["Destination"]): "active" | "inactive" {
  return status === "Inactive" ? "inactive" : "active";
}

function changesTo(
  destination: Schemas["Destination"], fields: Readonly<Record<string, string>>,
): BodyOf<"updateDestination"> {
  const { url = "", serverRateLimit = "" } = fields;
  const status = fields["status"] === "inactive" ? "inactive" : "active";
  return {
    ...(url === destination.url ? {} : { url }),
    ...(serverRateLimit === String(destination.serverRateLimit) ? {} : { serverRateLimit: Number(serverRateLimit) }),
    ...(status === switchOf(destination) ? {} : { status }),
    ...authOf(fields, destination.authType),
  };
}
