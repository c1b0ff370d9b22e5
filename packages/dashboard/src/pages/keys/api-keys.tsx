import { useQueryClient } from "@tanstack/react-query";
import type { Schemas } from "@webhook-relay/client";
import { useState, type ReactNode } from "react";
import { relay } from "../../api/relay.ts";
import { usePreferences } from "../../app/preferences.tsx";
import { useMay } from "../../app/session.ts";
import { Dialog } from "../../parts/dialog.tsx";
import { ExpiryField, expiryOf } from "../../parts/expiry.tsx";
import { Field, Form } from "../../parts/form.tsx";
import { Listed, usePages } from "../../parts/listed.tsx";
import { Confirm, SecretDialog } from "../../parts/questions.tsx";
import { Empty, NoRight } from "../../parts/states.tsx";
import { actsHead, Table } from "../../parts/table.tsx";
import { Ago, Moment } from "../../parts/time.tsx";
import shared from "../../style/shared.module.css";
import { Expiry, keyColumns } from "./key-cells.tsx";
import { RotateKey } from "./rotate-key.tsx";

type Key = Schemas["ApiKey"];
type Asking = { readonly act: "create" } | { readonly act: "rotate" | "revoke"; readonly key: Key }
  | { readonly act: "store"; readonly secret: string };

const queryKey = ["listApiKeys"];

/** The keys by which producers post events. */
export function ApiKeys(): ReactNode {
  const may = useMay();
  const { zone } = usePreferences();
  const queries = useQueryClient();
  const [asking, setAsking] = useState<Asking>();
  const pages = usePages({ queryKey, ask: (page) => relay.listApiKeys(page) });
  const close = () => setAsking(undefined);
  const changed = () => queries.invalidateQueries({ queryKey });
  const create = async ({ name = "", expiresAt }: Readonly<Record<string, string>>) => {
    const { apiKey } = await relay.createApiKey({ name, ...expiryOf(expiresAt, zone) });
    setAsking({ act: "store", secret: apiKey });
    await changed();
  };
  const rotate = async (id: string, overlapSeconds: number) => {
    const { apiKey } = await relay.rotateApiKey({ id }, { overlapSeconds });
    setAsking({ act: "store", secret: apiKey });
    await changed();
  };
  const createButton = (
    <button type="button" className={shared.primary} onClick={() => setAsking({ act: "create" })}>
      Create API key…
    </button>
  );
  return (
    <section aria-label="API keys" className={shared.section}>
      <div className={shared.sectionHead}>
        <p className={shared.small}>
          Producers send one as <code>X-Api-Key</code> with every event. It opens nothing else.
        </p>
        {may("createApiKey") && createButton}
      </div>
      {!may("createApiKey") && <NoRight>Developers, Admins and Owners create, rotate and revoke API keys.</NoRight>}
      <Listed
        pages={pages}
        empty={<Empty act={may("createApiKey") && createButton}>
          No API key yet: here is one for each producer, with its last use.
        </Empty>}
      >
        {(keys) => (
          <Table
            stacked rows={keys} keyOf={({ id }) => id}
            columns={[
              ...keyColumns,
              {
                head: "Last used", label: "Last used",
                cell: ({ lastUsedAt }) => lastUsedAt === null ? "never" : <Moment at={lastUsedAt} />,
              },
              { head: "Created", label: "Created", cell: ({ createdAt }) => <Moment at={createdAt} only="day" /> },
              { head: "Expires", label: "Expires", cell: ({ expiresAt }) => <Expiry at={expiresAt} /> },
              {
                head: actsHead, kind: "acts", cell: (key) => (
                  <>
                    {may("rotateApiKey") && (
                      <button type="button" aria-label={`Rotate ${key.name}…`}
                        onClick={() => setAsking({ act: "rotate", key })}>Rotate…</button>
                    )}
                    {may("deleteApiKey") && (
                      <button type="button" className={shared.danger} aria-label={`Revoke ${key.name}…`}
                        onClick={() => setAsking({ act: "revoke", key })}>Revoke…</button>
                    )}
                  </>
                ),
              },
            ]}
          />
        )}
      </Listed>
      {asking?.act === "create" && (
        <Dialog title="Create an API key" close={close}>
          <Form submit={create} label="Create" cancel={close} keeps>
            <Field name="name" label="Name" hint="What it is for, such as the producer's name.">
              {(props) => <input {...props} required maxLength={255} autoComplete="off" />}
            </Field>
            <ExpiryField />
          </Form>
        </Dialog>
      )}
      {asking?.act === "rotate" && (
        <RotateKey name={asking.key.name} close={close} rotate={(seconds) => rotate(asking.key.id, seconds)} />
      )}
      {asking?.act === "store" && <SecretDialog title="The new API key" secret={asking.secret} done={close} />}
      {asking?.act === "revoke" && (
        <Confirm
          title={`Revoke ${asking.key.name}?`} act="Revoke" close={close}
          run={async () => {
            await relay.deleteApiKey({ id: asking.key.id });
            await changed();
          }}
        >
          <p>Events posted with the key that ends in <code>{asking.key.last4}</code> are refused from then on.</p>
          {asking.key.lastUsedAt === null
            ? <p>No event was accepted with it yet.</p>
            : <p>It was used last <Ago to={asking.key.lastUsedAt} />: <Moment at={asking.key.lastUsedAt} />.</p>}
        </Confirm>
      )}
    </section>
  );
}
