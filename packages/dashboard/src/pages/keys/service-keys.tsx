import { useQueryClient } from "@tanstack/react-query";
import type { Schemas } from "@webhook-relay/client";
import { useState, type ReactNode } from "react";
import { relay } from "../../api/relay.ts";
import { useMay } from "../../app/session.ts";
import { Confirm, Dialog, SecretDialog } from "../../parts/dialog.tsx";
import { Listed, usePages } from "../../parts/listed.tsx";
import { Empty } from "../../parts/states.tsx";
import { actsHead, Table } from "../../parts/table.tsx";
import { Moment } from "../../parts/time.tsx";
import shared from "../../style/shared.module.css";
import { Expiry, keyColumns } from "./key-cells.tsx";
import { ServiceKeyForm } from "./service-key-form.tsx";

type Key = Schemas["ServiceKey"];
/** `replaces` is the old key, which is to be revoked once the new one is stored. */
type Asking = { readonly act: "create"; readonly replaces?: Key }
  | { readonly act: "store"; readonly secret: string; readonly replaces?: Key }
  | { readonly act: "revoke"; readonly key: Key; readonly isReplaced: boolean };

/** The keys of a service account. */
export function ServiceKeys({ accountId }: { readonly accountId: string }): ReactNode {
  const may = useMay();
  const queries = useQueryClient();
  const [asking, setAsking] = useState<Asking>();
  const queryKey = ["listServiceKeys", { id: accountId }];
  const pages = usePages({ queryKey, ask: (page) => relay.listServiceKeys({ id: accountId, ...page }) });
  const close = () => setAsking(undefined);
  const changed = () => queries.invalidateQueries({ queryKey });
  const create = async (body: Schemas["CreateServiceKeyRequest"], replaces: Key | undefined) => {
    const { key: secret } = await relay.createServiceKey({ id: accountId }, body);
    setAsking({ act: "store", secret, ...(replaces && { replaces }) });
    await changed();
  };
  const stored = (replaced: Key | undefined) => {
    setAsking(replaced && { act: "revoke", key: replaced, isReplaced: true });
  };
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
                    {may("createServiceKey") && may("deleteServiceKey") && (
                      <button type="button" aria-label={`Replace ${key.name}…`}
                        onClick={() => setAsking({ act: "create", replaces: key })}>Replace…</button>
                    )}
                    {may("deleteServiceKey") && (
                      <button type="button" className={shared.danger} aria-label={`Revoke ${key.name}…`}
                        onClick={() => setAsking({ act: "revoke", key, isReplaced: false })}>Revoke…</button>
                    )}
                  </>
                ),
              },
            ]}
          />
        )}
      </Listed>
      {asking?.act === "create" && (
        <Dialog title={asking.replaces ? `Replace ${asking.replaces.name}` : "Create a service key"} close={close}>
          {asking.replaces && <p>First the new key; then you are asked whether the old one ends.</p>}
          <ServiceKeyForm like={asking.replaces} create={(body) => create(body, asking.replaces)} cancel={close} />
        </Dialog>
      )}
      {asking?.act === "store" && (
        <SecretDialog title="The new service key" secret={asking.secret} done={() => stored(asking.replaces)}>
          <p>Send it as <code>Authorization: Bearer …</code>.</p>
        </SecretDialog>
      )}
      {asking?.act === "revoke" && (
        <Confirm
          title={asking.isReplaced ? "Revoke the old key now?" : `Revoke ${asking.key.name}?`} act="Revoke"
          close={close}
          run={async () => {
            await relay.deleteServiceKey({ id: accountId, keyId: asking.key.id });
            await changed();
          }}
        >
          <p>
            Requests with the key <code>{asking.key.prefix}…{asking.key.last4}</code> are refused from then on.
            {asking.isReplaced && " Revoke it once the machine uses the new one; until then both work."}
          </p>
        </Confirm>
      )}
    </>
  );
}
