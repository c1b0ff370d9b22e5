import { useQueryClient } from "@tanstack/react-query";
import type { Schemas } from "@webhook-relay/client";
import { useState, type ReactNode } from "react";
import { relay } from "../../api/relay.ts";
import { useMay, useMe } from "../../app/session.ts";
import { Dialog } from "../../parts/dialog.tsx";
import { Field, Form } from "../../parts/form.tsx";
import { Listed, usePages } from "../../parts/listed.tsx";
import { Menu } from "../../parts/menu.tsx";
import { Confirm } from "../../parts/questions.tsx";
import { atLeast, codeOf, isRole, RoleOptions, rolesFor } from "../../parts/roles.tsx";
import { Empty, NoRight } from "../../parts/states.tsx";
import { Status } from "../../parts/status.tsx";
import { actsHead, Table } from "../../parts/table.tsx";
import { Ago } from "../../parts/time.tsx";
import shared from "../../style/shared.module.css";

type User = Schemas["User"];
type Act = "role" | "switch" | "delete";

const queryKey = ["listUsers"];

/** The users of the tenant, and the caller's acts for each. */
export function Users(): ReactNode {
  const me = useMe();
  const may = useMay();
  const [asking, setAsking] = useState<{ readonly act: Act; readonly user: User }>();
  const pages = usePages({ queryKey, ask: (page) => relay.listUsers({ ...page, CpOrd: "email" }) });
  // Everybody may call updateUser, on themselves. Others are changed by those who may delete them.
  const manages = may("updateUser") && may("deleteUser");
  const isOpen = (user: User) => manages && user.id !== me.principal.id && atLeast(me.role, user.role);
  return (
    <section aria-label="Users" className={shared.section}>
      {!manages && <NoRight>Admins and Owners change users.</NoRight>}
      <Listed pages={pages} empty={<Empty>No user.</Empty>}>
        {(users) => (
          <Table
            stacked rows={users} keyOf={({ id }) => id}
            columns={[
              {
                head: "Email", kind: "main",
                cell: (user) => (
                  <span title={nameOf(user)}>{nameOf(user)}{user.id === me.principal.id && <small> · you</small>}</span>
                ),
              },
              { head: "Role", label: "Role", cell: ({ role }) => role },
              { head: "Status", cell: ({ status }) => <Status value={status} /> },
              { head: "Since", label: "Since", cell: ({ createdAt }) => <Ago to={createdAt} /> },
              {
                head: actsHead, kind: "acts",
                cell: (user) => isOpen(user) && <Acts user={user} ask={(act) => setAsking({ act, user })} />,
              },
            ]}
          />
        )}
      </Listed>
      {asking && <Asked {...asking} close={() => setAsking(undefined)} />}
    </section>
  );
}

function Acts({ user, ask }: { readonly user: User; readonly ask: (act: Act) => void }): ReactNode {
  const name = nameOf(user);
  const turn = turnOf(user);
  return (
    <Menu title={<>Change<span className={shared.hiddenText}> {name}</span></>} name={`Changes of ${name}`}>
      {(close) => {
        const choose = (act: Act) => () => {
          close();
          ask(act);
        };
        return (
          <>
            <button type="button" onClick={choose("role")}>Change role…</button>
            <button type="button" onClick={choose("switch")}>{turn}…</button>
            <button type="button" className={shared.danger} onClick={choose("delete")}>Delete…</button>
          </>
        );
      }}
    </Menu>
  );
}

function Asked({ act, user, close }: {
  readonly act: Act; readonly user: User; readonly close: () => void;
}): ReactNode {
  const { role: own } = useMe();
  const queries = useQueryClient();
  const { id } = user;
  const name = nameOf(user);
  const changed = async (change: Promise<unknown>) => {
    await change;
    await queries.invalidateQueries({ queryKey });
  };
  if (act === "role") {
    return (
      <Dialog title={`The role of ${name}`} close={close}>
        <Form
          label="Change role" cancel={close} keeps of={{ values: { role: user.role } }}
          submit={async ({ role }) => {
            if (isRole(role)) await changed(relay.updateUser({ id }, { role: codeOf(role) }));
            close();
          }}
        >
          <Field name="role" label="Role" hint="Their sessions end: they sign in again with the new role.">
            {(props) => <select {...props}><RoleOptions of={rolesFor(own)} /></select>}
          </Field>
        </Form>
      </Dialog>
    );
  }
  const turn = turnOf(user);
  if (act === "switch") {
    return (
      <Confirm title={`${turn} ${name}?`} act={turn} close={close}
        run={() => changed(relay.updateUser({ id }, { status: user.status === "Active" ? 1 : 0 }))}>
        <p>
          {user.status === "Active" ? "Their sessions end, and they cannot sign in." : "They can sign in again."}
        </p>
      </Confirm>
    );
  }
  return (
    <Confirm title={`Delete ${name}?`} act="Delete" close={close} run={() => changed(relay.deleteUser({ id }))}>
      <p>Their sessions end, and open invites to their address are revoked. What they did stays in the audit.</p>
    </Confirm>
  );
}

function turnOf({ status }: User): string {
  return status === "Active" ? "Deactivate" : "Activate";
}

function nameOf({ email }: User): string {
  return email ?? "(being deleted)";
}
