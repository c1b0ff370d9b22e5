import { useQuery, useQueryClient } from "@tanstack/react-query";
import type { Schemas } from "@webhook-relay/client";
import { useState, type ReactNode } from "react";
import { relay } from "../../api/relay.ts";
import { useMay } from "../../app/session.ts";
import { Choices, wordOptions } from "../../parts/choices.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import type { Fields } from "../../parts/fields.ts";
import { Field, Form } from "../../parts/form.tsx";
import { Listed, usePages } from "../../parts/listed.tsx";
import { destinationNames, titleOf, useTargets } from "../../parts/names.tsx";
import { Confirm, SecretDialog } from "../../parts/questions.tsx";
import { Empty, NoRight } from "../../parts/states.tsx";
import { actsHead, Table } from "../../parts/table.tsx";
import { Ago, Countdown } from "../../parts/time.tsx";
import shared from "../../style/shared.module.css";
import styles from "./settings.module.css";

type Link = Schemas["PortalLink"];
type Right = Link["may"][number];

/** The rights of a link, with their meanings to its visitor. */
const rights: Readonly<Record<Right, string>> = {
  read: "See the destinations, their events, and why each was delivered or not.",
  replay: "Replay, resend and retry events.",
  test: "Send test events.",
  configure: "Change and delete destinations; for a customer also add them, and choose their event types.",
};

const everyMs = 15_000;

const queryKey = ["listPortalLinks"];

/** The links that let customers into the portal, as long as their codes or sessions are good. */
export function PortalLinks(): ReactNode {
  const may = useMay();
  const queries = useQueryClient();
  const { nameOf } = useTargets();
  const [asks, setAsks] = useState<"create" | Link>();
  const [created, setCreated] = useState<Schemas["CreatedPortalLink"]>();
  const pages = usePages({ queryKey, refetchInterval: everyMs, ask: (page) => relay.listPortalLinks(page) });
  const close = () => setAsks(undefined);
  const changed = () => queries.invalidateQueries({ queryKey });
  if (!may("listPortalLinks")) return <NoRight>Admins and Owners see and create links to the portal.</NoRight>;
  const create = (
    <button type="button" className={shared.primary} onClick={() => setAsks("create")}>New portal link…</button>
  );
  const whose = ({ ownerId, destinationUrlIds, label }: Link) =>
    label ?? ownerId ?? (destinationUrlIds ?? []).map(nameOf).join(", ");
  return (
    <section aria-label="Portal links" className={shared.section}>
      <div className={shared.sectionHead}>
        <p className={shared.small}>
          A customer opens the portal by a link, without an account, and sees its own destinations and events alone.
          Your server creates links by the API when a customer asks. Here you look at them, or try one.
        </p>
        {create}
      </div>
      <Listed
        pages={pages} empty={<Empty act={create}>Nobody is in the portal, and no link waits to be opened.</Empty>}
      >
        {(links) => (
          <Table
            stacked rows={links} keyOf={({ id }) => id}
            columns={[
              {
                head: "For", kind: "main", cell: (link) => (
                  <>{whose(link)}{link.label !== null && link.ownerId !== null && <small> {link.ownerId}</small>}</>
                ),
              },
              {
                head: "May", className: styles.types,
                cell: (link) => link.may.map((right) => <code key={right} title={rights[right]}>{right}</code>),
              },
              { head: "Created", label: "Created", cell: ({ createdAt }) => <Ago to={createdAt} /> },
              {
                head: "Session", label: "Session", cell: ({ session, expiresAt }) => session
                  ? <>ends <Countdown to={session.endsAt} /></>
                  : <>not opened; its code ends <Countdown to={expiresAt} /></>,
              },
              {
                head: actsHead, kind: "acts", cell: (link) => (
                  <button
                    type="button" className={shared.danger} onClick={() => setAsks(link)}
                    aria-label={`End the link for ${whose(link)}…`}
                  >
                    End…
                  </button>
                ),
              },
            ]}
          />
        )}
      </Listed>
      {asks === "create" && (
        <NewLink close={close} done={async (link) => {
          close();
          setCreated(link);
          await changed();
        }} />
      )}
      {created && (
        <SecretDialog
          title="The portal link" secret={created.url} done={() => setCreated(undefined)}
          note="It opens the portal once, in one browser. It is shown this once."
        >
          <p>Its code ends <Countdown to={created.expiresAt} />.</p>
          <p><a href={created.url} target="_blank" rel="noreferrer">Open it in a new tab</a></p>
        </SecretDialog>
      )}
      {typeof asks === "object" && (
        <Confirm title="End the link?" act="End it" close={close} run={async () => {
          await relay.deletePortalLink({ id: asks.id });
          await changed();
        }}>
          <p className={shared.wraps}>{whose(asks)}</p>
          <p>Its code and its session end at once. Whoever is in the portal by it is sent out.</p>
        </Confirm>
      )}
    </section>
  );
}

function NewLink({ close, done }: {
  readonly close: () => void; readonly done: (link: Schemas["CreatedPortalLink"]) => Promise<void>;
}): ReactNode {
  const { data: destinations = [] } = useQuery(destinationNames);
  const [isForOwner, setForOwner] = useState(true);
  const [named, setNamed] = useState<readonly string[]>([]);
  const [may, setMay] = useState<readonly Right[]>(["read"]);
  const create = async ({ ownerId = "", label = "", sessionSeconds = "", returnUrl = "" }: Fields) => {
    const whose = isForOwner ? { ownerId } : { destinationUrlIds: [...named] };
    await done(await relay.createPortalLink({
      ...whose, may: [...may], ...(label !== "" && { label }), ...(returnUrl !== "" && { returnUrl }),
      sessionSeconds: Number(sessionSeconds),
    }));
  };
  return (
    <Dialog title="New portal link" close={close}>
      <Form submit={create} label="Create the link" cancel={close} keeps>
        <Field name="names" label="For">
          {(control) => (
            <select {...control} onChange={({ target }) => setForOwner(target.value === "owner")}>
              <option value="owner">a customer: its destinations, later ones, too</option>
              <option value="destinations">some destinations</option>
            </select>
          )}
        </Field>
        {isForOwner ? (
          <Field name="ownerId" label="Customer" hint="Your own name for it: the owner that its destinations have.">
            {(control) => <input {...control} autoComplete="off" required />}
          </Field>
        ) : (
          <Choices
            legend="Destinations" chosen={named} choose={setNamed}
            options={destinations.map((each) => ({ value: each.id, shown: titleOf(each) }))}
          />
        )}
        <Choices legend="May" options={wordOptions(rights)} chosen={may} choose={setMay} />
        <Field name="label" label="Label (optional)" hint="How it is called in this list and in the audit.">
          {(control) => <input {...control} autoComplete="off" />}
        </Field>
        <Field name="sessionSeconds" label="Session, seconds" hint="How long the portal stays open: 300 to 86400.">
          {(control) => <input {...control} type="number" defaultValue="3600" className={styles.settingsNumber} />}
        </Field>
        <Field name="returnUrl" label="Way back (optional)" hint="The page of yours that the portal leads back to.">
          {(control) => <input {...control} inputMode="url" autoComplete="off" />}
        </Field>
      </Form>
    </Dialog>
  );
}
