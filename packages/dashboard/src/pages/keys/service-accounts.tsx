import { useQueryClient } from "@tanstack/react-query";
import { Link, useSearch } from "@tanstack/react-router";
import { useState, type ReactNode } from "react";
import { relay } from "../../api/relay.ts";
import { useChange } from "../../app/navigation.tsx";
import { useMay, useMe } from "../../app/session.ts";
import { Dialog } from "../../parts/dialog.tsx";
import { Field, Form } from "../../parts/form.tsx";
import { Listed, usePages } from "../../parts/listed.tsx";
import { codeOf, isServiceRole, RoleOptions, serviceRolesFor } from "../../parts/roles.tsx";
import { Empty, NoRight } from "../../parts/states.tsx";
import { Status } from "../../parts/status.tsx";
import { Table } from "../../parts/table.tsx";
import { Moment } from "../../parts/time.tsx";
import shared from "../../style/shared.module.css";
import { ServiceAccount } from "./service-account.tsx";

/** The machines that call the API, or the one that is opened. */
export function ServiceAccounts(): ReactNode {
  const { account } = useSearch({ from: "/signed-in/keys" });
  return account === undefined ? <AllServiceAccounts /> : <ServiceAccount key={account} id={account} />;
}

function AllServiceAccounts(): ReactNode {
  const may = useMay();
  const { role } = useMe();
  const queries = useQueryClient();
  const change = useChange();
  const [creates, setCreates] = useState(false);
  const pages = usePages({ queryKey: ["listServiceAccounts"], ask: (page) => relay.listServiceAccounts(page) });
  const create = async ({ name = "", role: chosen }: Readonly<Record<string, string>>) => {
    if (!isServiceRole(chosen)) return;
    const { id } = await relay.createServiceAccount({ name, role: codeOf(chosen) });
    await queries.invalidateQueries({ queryKey: ["listServiceAccounts"] });
    setCreates(false);
    change({ account: id });
  };
  const createButton = (
    <button type="button" className={shared.primary} onClick={() => setCreates(true)}>Create service account…</button>
  );
  return (
    <section aria-label="Service accounts" className={shared.section}>
      <div className={shared.sectionHead}>
        <p className={shared.small}>A service account is a machine that calls the API with keys of its own.</p>
        {may("createServiceAccount") && createButton}
      </div>
      {!may("createServiceAccount") && <NoRight>Admins and Owners manage service accounts and their keys.</NoRight>}
      <Listed
        pages={pages}
        empty={<Empty act={may("createServiceAccount") && createButton}>
          No service account yet: here is one for each machine that calls the API.
        </Empty>}
      >
        {(accounts) => (
          <Table
            stacked rows={accounts} keyOf={({ id }) => id}
            columns={[
              {
                head: "Name", kind: "main", cell: ({ id, name }) => (
                  <Link to="/keys" search={{ tab: "services", account: id }}>{name}</Link>
                ),
              },
              { head: "Role", label: "Role", cell: (account) => account.role },
              { head: "Status", cell: ({ status }) => <Status value={status} /> },
              { head: "Created", label: "Created", cell: ({ createdAt }) => <Moment at={createdAt} only="day" /> },
            ]}
          />
        )}
      </Listed>
      {creates && (
        <Dialog title="Create a service account" close={() => setCreates(false)}>
          <Form submit={create} label="Create" cancel={() => setCreates(false)} keeps>
            <Field name="name" label="Name" hint="What the machine is, such as “order sync”.">
              {(props) => <input {...props} required maxLength={255} autoComplete="off" />}
            </Field>
            <Field name="role" label="Role" hint="Its keys may do this at most; scopes narrow each key further.">
              {(props) => <select {...props}><RoleOptions of={serviceRolesFor(role)} /></select>}
            </Field>
          </Form>
        </Dialog>
      )}
    </section>
  );
}
