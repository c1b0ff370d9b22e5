import { useQueryClient } from "@tanstack/react-query";
import type { Schemas } from "@webhook-relay/client";
import { useState, type ReactNode } from "react";
import { pagesPath, relay } from "../../api/relay.ts";
import { useMay, useMe } from "../../app/session.ts";
import { Dialog } from "../../parts/dialog.tsx";
import { Field, Form } from "../../parts/form.tsx";
import { Listed, usePages } from "../../parts/listed.tsx";
import { Confirm, SecretDialog } from "../../parts/questions.tsx";
import { codeOf, isRole, RoleOptions, rolesFor } from "../../parts/roles.tsx";
import { Empty, NoRight } from "../../parts/states.tsx";
import { Status } from "../../parts/status.tsx";
import { actsHead, Table } from "../../parts/table.tsx";
import { Ago, Moment } from "../../parts/time.tsx";
import shared from "../../style/shared.module.css";

type Asking = { readonly act: "invite" } | { readonly act: "revoke"; readonly invite: Schemas["Invite"] }
  | { readonly act: "send"; readonly token: string; readonly email: string };

const queryKey = ["listInvites"];

/** The invites of the tenant. */
export function Invites(): ReactNode {
  const may = useMay();
  const { role: own } = useMe();
  const queries = useQueryClient();
  const [asking, setAsking] = useState<Asking>();
  const pages = usePages({
    queryKey, ask: (page) => relay.listInvites({ ...page, CpOrd: "createdAt", TpOrd: "Desc" }),
  });
  const close = () => setAsking(undefined);
  const changed = () => queries.invalidateQueries({ queryKey });
  const invite = async ({ email = "", role }: Readonly<Record<string, string>>) => {
    if (!isRole(role)) return;
    const { inviteToken } = await relay.createInvite({ email, role: codeOf(role) });
    setAsking({ act: "send", token: inviteToken, email });
    await changed();
  };
  const button = (
    <button type="button" className={shared.primary} onClick={() => setAsking({ act: "invite" })}>Invite…</button>
  );
  return (
    <section aria-label="Invites" className={shared.section}>
      <div className={shared.sectionHead}>
        <p className={shared.small}>An invite is a link that works once, within 7 days.</p>
        {may("createInvite") && button}
      </div>
      {!may("createInvite") && <NoRight>Admins and Owners invite people.</NoRight>}
      <Listed
        pages={pages}
        empty={<Empty act={may("createInvite") && button}>No invite yet: here is one for each person invited.</Empty>}
      >
        {(invites) => (
          <Table
            stacked rows={invites} keyOf={({ id }) => id}
            columns={[
              { head: "Email", kind: "main", cell: nameOf },
              { head: "Role", label: "Role", cell: ({ role }) => role },
              { head: "Status", cell: ({ status }) => <Status value={status} /> },
              { head: "Invited", label: "Invited", cell: ({ createdAt }) => <Ago to={createdAt} /> },
              {
                head: "Good until", label: "Good until",
                cell: ({ expiresAt }) => <Moment at={expiresAt} only="day" />,
              },
              {
                head: actsHead, kind: "acts", cell: (each) => may("revokeInvite") && each.status === "Pending" && (
                  <button type="button" className={shared.danger} aria-label={`Revoke the invite of ${nameOf(each)}…`}
                    onClick={() => setAsking({ act: "revoke", invite: each })}>Revoke…</button>
                ),
              },
            ]}
          />
        )}
      </Listed>
      {asking?.act === "invite" && (
        <Dialog title="Invite somebody" close={close}>
          <Form submit={invite} label="Invite" cancel={close} keeps>
            <Field name="email" label="Email">
              {(props) => <input {...props} type="email" required autoComplete="off" />}
            </Field>
            <Field name="role" label="Role">
              {(props) => <select {...props} defaultValue="Viewer"><RoleOptions of={rolesFor(own)} /></select>}
            </Field>
          </Form>
        </Dialog>
      )}
      {asking?.act === "send" && (
        <SecretDialog title={`The link for ${asking.email}`} secret={linkOf(asking.token)} done={close}>
          <p>Send it to them yourself: the relay sends no mail. Whoever opens it sets the password.</p>
        </SecretDialog>
      )}
      {asking?.act === "revoke" && (
        <Confirm title={`Revoke the invite of ${nameOf(asking.invite)}?`} act="Revoke" close={close} run={async () => {
          await relay.revokeInvite({ id: asking.invite.id });
          await changed();
        }}>
          <p>Its link stops working at once.</p>
        </Confirm>
      )}
    </section>
  );
}

/** The link of an invite. Browsers send the part behind the `#` to no server, so no log has it. */
function linkOf(token: string): string {
  return `${location.origin}${pagesPath}/register#token=${encodeURIComponent(token)}`;
}

function nameOf({ email }: Schemas["Invite"]): string {
  return email ?? "(deleted)";
}
