import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { Schemas } from "@webhook-relay/client";
import { useState, type ReactNode } from "react";
import { relay } from "../../api/relay.ts";
import { useChange } from "../../app/navigation.tsx";
import { useMay, useMe } from "../../app/session.ts";
import { Id } from "../../parts/copy.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { Field, Form } from "../../parts/form.tsx";
import { Confirm } from "../../parts/questions.tsx";
import { codeOf, isServiceRole, RoleOptions, serviceRolesFor } from "../../parts/roles.tsx";
import { Answered, NoRight } from "../../parts/states.tsx";
import { Status } from "../../parts/status.tsx";
import { Moment } from "../../parts/time.tsx";
import shared from "../../style/shared.module.css";
import { ServiceKeys } from "./service-keys.tsx";

/** A service account, its acts, and its keys. */
export function ServiceAccount({ id }: { readonly id: string }): ReactNode {
  const query = useQuery({ queryKey: ["getServiceAccount", { id }], queryFn: () => relay.getServiceAccount({ id }) });
  return (
    <section aria-label="Service account" className={shared.section}>
      <p><Link to="/keys" search={{ tab: "services" }}>‹ Service accounts</Link></p>
      <Answered query={query}>
        {(account) => (
          <>
            <Head account={account} />
            <ServiceKeys accountId={id} />
          </>
        )}
      </Answered>
    </section>
  );
}

function Head({ account: { id, name, role, status, createdAt } }: {
  readonly account: Schemas["ServiceAccount"];
}): ReactNode {
  const may = useMay();
  const me = useMe();
  const queries = useQueryClient();
  const change = useChange();
  const [asking, setAsking] = useState<"role" | "switch" | "delete">();
  const close = () => setAsking(undefined);
  const changed = () => Promise.all([
    queries.invalidateQueries({ queryKey: ["listServiceAccounts"] }),
    queries.invalidateQueries({ queryKey: ["getServiceAccount", { id }] }),
  ]);
  const active = status === "Active";
  const turn = active ? "Switch off" : "Switch on";
  return (
    <>
      <div className={shared.sectionHead}>
        <h2>{name}</h2>
        <div className={shared.acts}>
          {may("updateServiceAccount") && (
            <>
              <button type="button" onClick={() => setAsking("role")}>Change role…</button>
              <button type="button" onClick={() => setAsking("switch")}>{turn}…</button>
            </>
          )}
          {may("deleteServiceAccount") && (
            <button type="button" className={shared.danger} onClick={() => setAsking("delete")}>Delete…</button>
          )}
        </div>
      </div>
      {!may("updateServiceAccount") && <NoRight>Admins and Owners manage service accounts and their keys.</NoRight>}
      <dl className={shared.facts}>
        <dt>Status</dt><dd><Status value={status} /></dd>
        <dt>Role</dt><dd>{role}</dd>
        <dt>Created</dt><dd><Moment at={createdAt} /></dd>
        <dt>Id</dt><dd><Id value={id} /></dd>
      </dl>
      {asking === "role" && (
        <Dialog title={`The role of ${name}`} close={close}>
          <Form label="Change role" cancel={close} keeps of={{ values: { role } }} submit={async ({ role: chosen }) => {
            if (isServiceRole(chosen)) await relay.updateServiceAccount({ id }, { role: codeOf(chosen) });
            await changed();
            close();
          }}>
            <Field name="role" label="Role" hint="It counts at once, for all keys of the account.">
              {(props) => (
                <select {...props}><RoleOptions of={serviceRolesFor(me.role)} /></select>
              )}
            </Field>
          </Form>
        </Dialog>
      )}
      {asking === "switch" && (
        <Confirm title={`${turn} ${name}?`} act={turn} close={close} run={async () => {
          await relay.updateServiceAccount({ id }, { status: active ? "inactive" : "active" });
          await changed();
        }}>
          <p>{active ? "Its keys are refused until it is switched on again." : "Its keys work again at once."}</p>
        </Confirm>
      )}
      {asking === "delete" && (
        <Confirm title={`Delete ${name}?`} act="Delete" close={close} run={async () => {
          await relay.deleteServiceAccount({ id });
          change({ account: undefined });
          await queries.invalidateQueries({ queryKey: ["listServiceAccounts"] });
        }}>
          <p>All its keys end at once, for good. What it did stays in the audit.</p>
        </Confirm>
      )}
    </>
  );
}
