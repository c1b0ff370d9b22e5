import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import type { Schemas } from "@webhook-relay/client";
import { useState, type ReactNode } from "react";
import { relay } from "../../api/relay.ts";
import { useChange } from "../../app/navigation.tsx";
import { useMay, useMe } from "../../app/session.ts";
import { Dialog } from "../../parts/dialog.tsx";
import { Field, Form } from "../../parts/form.tsx";
import { Page } from "../../parts/page.tsx";
import { Answered, Empty, NoRight } from "../../parts/states.tsx";
import { Status } from "../../parts/status.tsx";
import { Moment } from "../../parts/time.tsx";
import shared from "../../style/shared.module.css";
import { DestinationChoice, DestinationLink } from "./destination.tsx";
import { TokenDialog } from "./ingest.tsx";
import styles from "./senders.module.css";

const pageSize = 50;

/** The senders of the tenant, by name, and the form for a new one. */
export function SendersPage(): ReactNode {
  const { cursor, new: making } = useSearch({ from: "/signed-in/senders" });
  const change = useChange();
  const mayCreate = useMay()("createSender");
  const parameters = { Qt: pageSize, CpOrd: "name", Total: false, ...(cursor ? { Cursor: cursor } : {}) } as const;
  const query = useQuery({
    queryKey: ["listSenders", parameters],
    queryFn: () => relay.listSenders(parameters),
  });
  const create = mayCreate && (
    <button type="button" className={shared.primary} onClick={() => change({ new: "sender" })}>New sender…</button>
  );
  return (
    <Page title="Senders" acts={create}>
      {!mayCreate && <NoRight>Developers, Admins and Owners can create senders.</NoRight>}
      <Answered query={query}>
        {({ items, nextCursor }) => items.length === 0 && !cursor
          ? (
            <Empty act={create}>
              A sender is an address of its own for events from one source, which turns what it receives into what a
              destination wants. There is none yet.
            </Empty>
          )
          : (
            <>
              <Senders senders={items} />
              <p className={shared.acts}>
                {cursor && <Link to="/senders" className={shared.button}>First page</Link>}
                {nextCursor !== null && (
                  <Link to="/senders" search={{ cursor: nextCursor }} className={shared.button}>Next page</Link>
                )}
              </p>
            </>
          )}
      </Answered>
      {making === "sender" && mayCreate && <NewSender close={() => change({ new: undefined })} />}
    </Page>
  );
}

function Senders({ senders }: { readonly senders: readonly Schemas["Sender"][] }): ReactNode {
  return (
    <table className={styles.senders}>
      <thead>
        <tr><th>Name</th><th>Destination</th><th>Status</th><th>Mapping</th><th>Changed</th></tr>
      </thead>
      <tbody>
        {senders.map(({ id, name, destinationUrlId, status, mapping, updatedAt }) => (
          <tr key={id}>
            <td><Link to="/senders/$id" params={{ id }} className={shared.wraps}>{name}</Link></td>
            <td><DestinationLink id={destinationUrlId} /></td>
            <td><Status value={status} /></td>
            <td>
              {mapping ? <code className={styles.firstLine}>{mapping.expression}</code> : <small>unchanged</small>}
            </td>
            <td><Moment at={updatedAt} /></td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function NewSender({ close }: { readonly close: () => void }): ReactNode {
  const { tenant } = useMe();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const [created, setCreated] = useState<Schemas["CreatedSender"]>();
  if (created) {
    return (
      <TokenDialog
        title={`The ingest token of ${created.name}`} tenantId={tenant.id} token={created.ingestToken}
        done={() => void navigate({ to: "/senders/$id", params: { id: created.id } })}
      />
    );
  }
  return (
    <Dialog title="New sender" close={close}>
      <Form label="Create" cancel={close} keeps submit={async ({ name = "", destinationUrlId = "" }) => {
        setCreated(await relay.createSender({ name, destinationUrlId }));
        await queries.invalidateQueries({ queryKey: ["listSenders"] });
      }}>
        <Field name="name" label="Name" hint="What people call it, such as the name of the source.">
          {(control) => <input {...control} required autoComplete="off" />}
        </Field>
        <Field name="destinationUrlId" label="Destination" hint="Where its events are delivered.">
          {(control) => <DestinationChoice control={control} />}
        </Field>
        <p className={shared.small}>A mapping can be tried and added afterwards.</p>
      </Form>
    </Dialog>
  );
}
