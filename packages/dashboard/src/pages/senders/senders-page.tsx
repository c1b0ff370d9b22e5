import { useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import type { Schemas } from "@webhook-relay/client";
import { useState, type ReactNode } from "react";
import { relay } from "../../api/relay.ts";
import { useChange } from "../../app/navigation.tsx";
import { useMay, useMe } from "../../app/session.ts";
import { DestinationChoice, SenderTarget } from "../../parts/destinations.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import type { Fields } from "../../parts/fields.ts";
import { Field, Form } from "../../parts/form.tsx";
import { Listed, usePages } from "../../parts/listed.tsx";
import { Page } from "../../parts/page.tsx";
import { Empty, NoRight } from "../../parts/states.tsx";
import { Status } from "../../parts/status.tsx";
import { Table } from "../../parts/table.tsx";
import { Ago } from "../../parts/time.tsx";
import shared from "../../style/shared.module.css";
import { FanOutFields } from "./fan-out-fields.tsx";
import { TokenDialog } from "./ingest.tsx";
import styles from "./senders.module.css";

/** The senders of the tenant, by name, and the form for a new one. */
export function SendersPage(): ReactNode {
  const { new: making } = useSearch({ from: "/signed-in/senders" });
  const change = useChange();
  const mayCreate = useMay()("createSender");
  const pages = usePages({
    queryKey: ["listSenders"], size: 50, ask: (page) => relay.listSenders({ ...page, CpOrd: "name" }),
  });
  const create = mayCreate && (
    <button type="button" className={shared.primary} onClick={() => change({ new: "sender" })}>New sender…</button>
  );
  return (
    <Page title="Senders" wide acts={create}>
      {!mayCreate && <NoRight>Developers, Admins and Owners can create senders.</NoRight>}
      <Listed
        pages={pages}
        empty={(
          <Empty act={create}>
            A sender is an address of its own for events from one source, which turns what it receives into what a
            destination wants, or sends it to every destination with a subscription. There is none yet.
          </Empty>
        )}
      >
        {(senders) => <Senders senders={senders} />}
      </Listed>
      {making === "sender" && mayCreate && <NewSender close={() => change({ new: undefined })} />}
    </Page>
  );
}

function Senders({ senders }: { readonly senders: readonly Schemas["Sender"][] }): ReactNode {
  return (
    <Table
      stacked rows={senders} keyOf={({ id }) => id}
      columns={[
        {
          head: "Name", kind: "main",
          cell: ({ id, name }) => <Link to="/senders/$id" params={{ id }} title={name}>{name}</Link>,
        },
        { head: "Destination", kind: "cut", cell: (sender) => <SenderTarget sender={sender} /> },
        { head: "Status", cell: ({ status }) => <Status value={status} /> },
        {
          head: "Mapping", cell: ({ mapping }) => mapping
            ? <code className={styles.firstLine}>{mapping.expression}</code> : <small>unchanged</small>,
        },
        { head: "Changed", label: "Changed", cell: ({ updatedAt }) => <Ago to={updatedAt} /> },
      ]}
    />
  );
}

function NewSender({ close }: { readonly close: () => void }): ReactNode {
  const { tenant } = useMe();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const [created, setCreated] = useState<Schemas["CreatedSender"]>();
  const [fansOut, setFanOut] = useState(false);
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
      <Form label="Create" cancel={close} keeps submit={async (fields) => {
        setCreated(await relay.createSender(senderIn(fields)));
        await queries.invalidateQueries({ queryKey: ["listSenders"] });
      }}>
        <Field name="name" label="Name" hint="What people call it, such as the name of the source.">
          {(control) => <input {...control} required autoComplete="off" />}
        </Field>
        <Field name="fanOut" label="Delivers to" hint="This never changes.">
          {(control) => (
            <select {...control} defaultValue="" onChange={({ target }) => setFanOut(target.value !== "")}>
              <option value="">one destination</option>
              <option value="yes">every destination with a subscription that matches</option>
            </select>
          )}
        </Field>
        {fansOut ? <FanOutFields /> : (
          <Field name="destinationUrlId" label="Destination" hint="Where its events are delivered.">
            {(control) => <DestinationChoice control={control} />}
          </Field>
        )}
        <p className={shared.small}>A mapping can be tried and added afterwards.</p>
      </Form>
    </Dialog>
  );
}

/** The new sender of a submission. */
function senderIn({ name = "", destinationUrlId = "", fanOut = "", eventTypePath = "", unmatched }: Fields) {
  if (fanOut === "") return { name, destinationUrlId };
  return {
    name, fanOut: true, ...(eventTypePath !== "" && { eventTypePath }),
    ...(unmatched === "refuse" && { unmatched: "refuse" as const }),
  };
}
