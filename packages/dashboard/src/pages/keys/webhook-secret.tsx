import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";
import { relay } from "../../api/relay.ts";
import { useMay, useMe } from "../../app/session.ts";
import { Copy } from "../../parts/copy.tsx";
import { Confirm, Dialog, SecretDialog } from "../../parts/dialog.tsx";
import styles from "../../parts/dialog.module.css";
import { Answered, Loading, NoRight, textOf } from "../../parts/states.tsx";
import { Moment } from "../../parts/time.tsx";
import shared from "../../style/shared.module.css";

/** The secret that signs all deliveries: which one it is, and how to see or replace it. */
export function WebhookSecret(): ReactNode {
  const { tenant: { id, name } } = useMe();
  const may = useMay();
  const queries = useQueryClient();
  const [asks, setAsks] = useState(false);
  const [secret, setSecret] = useState<{ readonly text: string; readonly isNew: boolean }>();
  const [problem, setProblem] = useState("");
  const queryKey = ["listTenantHistory", { id, of: "webhookSecret" }];
  const query = useQuery({ queryKey, queryFn: () => lastSet(id) });
  const reveal = () => {
    setProblem("");
    relay.getWebhookSecret({ id }).then(
      ({ webhookSecret }) => setSecret({ text: webhookSecret, isNew: false }),
      (error: unknown) => setProblem(textOf(error)),
    );
  };
  const replace = async () => {
    const { webhookSecret } = await relay.regenerateWebhookSecret({ id });
    setSecret({ text: webhookSecret, isNew: true });
    await queries.invalidateQueries({ queryKey });
  };
  const hide = () => setSecret(undefined);
  return (
    <section aria-label="Webhook secret" className={shared.section}>
      <p className={shared.small}>
        It signs every delivery. Your receivers verify with it that a request is the relay’s.
      </p>
      <Answered query={query} loading={<Loading lines={2} />}>
        {({ fingerprint, at }) => (
          <dl className={shared.facts}>
            <dt>Fingerprint</dt><dd><code>{fingerprint}</code></dd>
            <dt>In use since</dt><dd><Moment at={at} /></dd>
          </dl>
        )}
      </Answered>
      <div className={shared.acts}>
        {may("getWebhookSecret") && <button type="button" onClick={reveal}>Show the secret</button>}
        {may("regenerateWebhookSecret") && (
          <button type="button" className={shared.danger} onClick={() => setAsks(true)}>Make a new secret…</button>
        )}
      </div>
      {problem !== "" && <p className={shared.problem} role="alert">{problem}</p>}
      {!may("getWebhookSecret") && <NoRight>Developers, Admins and Owners see the secret and replace it.</NoRight>}
      {asks && (
        <Confirm title="Make a new webhook secret?" act="Make a new secret" type={name} run={replace}
          close={() => setAsks(false)}>
          <p>All deliveries from then on are signed with the new secret, retries of earlier events too.</p>
          <p>Receivers that verify with the old one refuse them until you give them the new one.</p>
        </Confirm>
      )}
      {!asks && secret?.isNew === true && (
        <SecretDialog title="The new webhook secret" secret={secret.text} done={hide}
          note="It signs from now on: give it to your receivers. This page shows it again when you ask." />
      )}
      {secret?.isNew === false && (
        <Dialog title="The webhook secret" close={hide}>
          <p className={styles.secret}>
            <code>{secret.text}</code> <Copy text={secret.text} label="Copy the secret" />
          </p>
        </Dialog>
      )}
    </section>
  );
}

/** The fingerprint of the present secret, and since when it signs: from the newest fact that set one. */
async function lastSet(id: string): Promise<{ readonly fingerprint: string; readonly at: string }> {
  for (const Type of ["WebhookSecretRegenerated", "TenantCreated"] as const) {
    const { items: [fact] } = await relay.listTenantHistory({ id, Type, TpOrd: "Desc", Qt: 1, Total: false });
    if (fact?.type === Type) {
      return { fingerprint: fact.data.webhookSecretFingerprint, at: fact.time };
    }
  }
  throw new Error("The history does not say which secret signs.");
}
