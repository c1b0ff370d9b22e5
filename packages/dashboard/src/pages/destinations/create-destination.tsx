import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import type { Schemas } from "@webhook-relay/client";
import { useState, type ReactNode } from "react";
import { relay } from "../../api/relay.ts";
import { authOf, AuthFields } from "../../parts/auth-fields.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { Field, Form } from "../../parts/form.tsx";
import { IngestAddress } from "../../parts/ingest-address.tsx";
import { SecretDialog } from "../../parts/questions.tsx";

/** Creates a destination, shows its ingest token once, then its page. */
export function CreateDestination({ close }: { readonly close: () => void }): ReactNode {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const [created, setCreated] = useState<Schemas["CreatedDestination"]>();
  const create = async (fields: Readonly<Record<string, string>>) => {
    const { url = "", name = "", serverRateLimit = "" } = fields;
    setCreated(await relay.createDestination({
      url, serverRateLimit: Number(serverRateLimit), ...(name !== "" && { name }), ...authOf(fields),
    }));
    await queries.invalidateQueries({ queryKey: ["listDestinations"] });
  };
  if (created) {
    return (
      <SecretDialog
        title="The destination's ingest token" secret={created.ingestToken}
        done={() => void navigate({ to: "/destinations/$id", params: { id: created.id } })}
      >
        <IngestAddress token={created.ingestToken} />
      </SecretDialog>
    );
  }
  return (
    <Dialog title="New destination" close={close}>
      <Form submit={create} label="Create destination" keeps cancel={close}>
        <Field name="url" label="URL" hint="Where events are posted to, by HTTPS.">
          {(props) => <input {...props} inputMode="url" autoComplete="off" />}
        </Field>
        <Field name="name" label="Name (optional)" hint="It stands in the place of the URL in lists and choices.">
          {(props) => <input {...props} autoComplete="off" />}
        </Field>
        <Field name="serverRateLimit" label="Concurrent requests" hint="Most requests in flight at the same time.">
          {(props) => <input {...props} type="number" defaultValue="5" />}
        </Field>
        <AuthFields />
      </Form>
    </Dialog>
  );
}
