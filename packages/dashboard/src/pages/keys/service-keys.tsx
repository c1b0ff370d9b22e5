import { useQueryClient } from "@tanstack/react-query";
import type { Schemas } from "@webhook-relay/client";
import { useState, type ReactNode } from "react";
import { relay } from "../../api/relay.ts";
import { useMay } from "../../app/session.ts";
import { Dialog } from "../../parts/dialog.tsx";
import { Listed, usePages } from "../../parts/listed.tsx";
import { Confirm, SecretDialog } from "../../parts/questions.tsx";
import { Empty } from "../../parts/states.tsx";
import { actsHead, Table } from "../../parts/table.tsx";
import { Moment } from "../../parts/time.tsx";
import shared from "../../style/shared.module.css";
import { Expiry, keyColumns } from "./key-cells.tsx";
import { RotateKey } from "./rotate-key.tsx";
import { ServiceKeyForm } from "./service-key-form.tsx";

type Key = Schemas["ServiceKey"];
type Asking = { readonly act: "create" } | { readonly act: "rotate" | "revoke"; readonly key: Key }
  | { readonly act: "store"; readonly secret: string };

/** The keys of a service account. */
export function ServiceKeys({ accountId }: { readonly accountId: string }): ReactNode {
  const may = useMay();
  const queries = useQueryClient();
  const [asking, setAsking] = useState<Asking>();
  const queryKey = ["listServiceKeys", { id: accountId }];
  const pages = usePages({ queryKey, ask: (page) => relay.listServiceKeys({ id: accountId, ...page }) });
  const close = () => setAsking(undefined);
  const changed = () => queries.invalidateQueries({ queryKey });
  const issued = async ({ key: secret }: { readonly key: string }) => {
    setAsking({ act: "store", secret });
    await changed();
  };
  const create = async (body: Schemas["CreateServiceKeyRequest"]) =>
    issued(await relay.createServiceKey({ id: accountId }, body));
  const rotate = async (keyId: string, overlapSeconds: number) =>
    issued(await relay.rotateServiceKey({ id: accountId, keyId }, { overlapSeconds }));
  const createButton = (
    <button type="button" className={shared.primary} onClick={() => setAsking({ act: "create" })}>Create key…</button>
  );
  return (
    <>
      <div className={shared.sectionHead}><h3>Keys</h3>{may("createServiceKey") && createButton}</div>
      <Listed pages={pages} empty={<Empty>No key yet: without one the machine cannot call the API.</Empty>}>
        {(keys) => (
          <Table
            stacked rows={keys} keyOf={({ id }) => id}
            columns={[
              ...keyColumns,
              {
                head: "Scopes", label: "Scopes", cell: ({ scopes }) => scopes?.join(", ") ?? "all that the role may",
              },
              { head: "Created", label: "Created", cell: ({ createdAt }) => <Moment at={createdAt} only="day" /> },
              { head: "Expires", label: "Expires", cell: ({ expiresAt }) => <Expiry at={expiresAt} /> },
              {
                head: actsHead, kind: "acts", cell: (key) => (
                  <>
                    {may("rotateServiceKey") && (
                      <button type="button" aria-label={`Rotate ${key.name}…`}
                        onClick={() => setAsking({ act: "rotate", key })}>Rotate…</button>
                    )}
                    {may("deleteServiceKey") && (
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
        <Dialog title="Create a service key" close={close}>
          <ServiceKeyForm create={create} cancel={close} />
        </Dialog>
      )}
      {asking?.act === "rotate" && (
        <RotateKey name={asking.key.name} close={close} rotate={(seconds) => rotate(asking.key.id, seconds)} />
      )}
      {asking?.act === "store" && (
        <SecretDialog title="The new service key" secret={asking.secret} done={close}>
          <p>Send it as <code>Authorization: Bearer …</code>.</p>
        </SecretDialog>
      )}
      {asking?.act === "revoke" && (
        <Confirm
          title={`Revoke ${asking.key.name}?`} act="Revoke" close={close}
          run={async () => {
            await relay.deleteServiceKey({ id: accountId, keyId: asking.key.id });
            await changed();
          }}
        >
          <p>
            Requests with the key <code>{asking.key.prefix}…{asking.key.last4}</code> are refused from then on.
          </p>
        </Confirm>
      )}
    </>
  );
}
