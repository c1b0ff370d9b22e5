import { useQuery, useQueryClient } from "@tanstack/react-query";
import type { Schemas } from "@webhook-relay/client";
import { useState, type ReactNode } from "react";
import { relay } from "../../api/relay.ts";
import { useMay, useMe } from "../../app/session.ts";
import { Copy } from "../../parts/copy.tsx";
import { Confirm, Dialog, SecretDialog } from "../../parts/dialog.tsx";
import dialogStyles from "../../parts/dialog.module.css";
import { PreviousSecrets, ReplaceSecret, stillSigning, type SigningSecrets } from "../../parts/signing-secrets.tsx";
import { Answered, Loading, NoRight, textOf } from "../../parts/states.tsx";
import { Moment } from "../../parts/time.tsx";
import shared from "../../style/shared.module.css";

/** The secret that signs all deliveries, how to see or replace it, and the older ones that sign, too. */
export function WebhookSecret(): ReactNode {
  const { tenant: { id, name } } = useMe();
  const may = useMay();
  const queries = useQueryClient();
  const [asks, setAsks] = useState<"replace" | "expire">();
  const [secret, setSecret] = useState<{ readonly text: string; readonly isNew: boolean }>();
  const [problem, setProblem] = useState("");
  const queryKey = ["listTenantHistory", { id, of: "webhookSecret" }];
  const query = useQuery({ queryKey, queryFn: () => secretsOf(id), refetchInterval: 15_000 });
  const reveal = () => {
    setProblem("");
    relay.getWebhookSecret({ id }).then(
      ({ webhookSecret }) => setSecret({ text: webhookSecret, isNew: false }),
      (error: unknown) => setProblem(textOf(error)),
    );
  };
  const changed = () => queries.invalidateQueries({ queryKey });
  const replace = async (request: Schemas["ReplaceSecretRequest"]) => {
    const { webhookSecret } = await relay.regenerateWebhookSecret({ id }, request);
    setAsks(undefined);
    setSecret({ text: webhookSecret, isNew: true });
    await changed();
  };
  const expire = async () => {
    await relay.expireWebhookSecrets({ id });
    await changed();
  };
  const hide = () => setSecret(undefined);
  const close = () => setAsks(undefined);
  return (
    <section aria-label="Webhook secret" className={shared.section}>
      <p className={shared.small}>
        It signs every delivery. Your receivers verify with it that a request is the relay’s.
      </p>
      <Answered query={query} loading={<Loading lines={2} />}>
        {({ fingerprint, since, previous }) => (
          <>
            <dl className={shared.facts}>
              <dt>Fingerprint</dt><dd><code>{fingerprint}</code></dd>
              <dt>In use since</dt><dd><Moment at={since} /></dd>
            </dl>
            <div className={shared.acts}>
              {may("getWebhookSecret") && <button type="button" onClick={reveal}>Show the secret</button>}
              {may("regenerateWebhookSecret") && (
                <button type="button" onClick={() => setAsks("replace")}>Make a new secret…</button>
              )}
              {may("expireWebhookSecrets") && previous.length > 0 && (
                <button type="button" className={shared.danger} onClick={() => setAsks("expire")}>
                  End older secrets now…
                </button>
              )}
            </div>
            <PreviousSecrets previous={previous} />
          </>
        )}
      </Answered>
      {problem !== "" && <p className={shared.problem} role="alert">{problem}</p>}
      {!may("getWebhookSecret") && <NoRight>Developers, Admins and Owners see the secret and replace it.</NoRight>}
      {asks === "replace" && (
        <ReplaceSecret title="Make a new webhook secret" name={name} replace={replace} close={close} />
      )}
      {asks === "expire" && (
        <Confirm title="End the older secrets?" act="End them" run={expire} close={close}>
          <p>Receivers that still verify with one of them refuse deliveries from the next attempt on.</p>
        </Confirm>
      )}
      {secret?.isNew === true && (
        <SecretDialog title="The new webhook secret" secret={secret.text} done={hide}
          note="It signs from now on: give it to your receivers. This page shows it again when you ask." />
      )}
      {secret?.isNew === false && (
        <Dialog title="The webhook secret" close={hide}>
          <p className={dialogStyles.secret}>
            <code>{secret.text}</code> <Copy text={secret.text} label="Copy the secret" />
          </p>
        </Dialog>
      )}
    </section>
  );
}

/** The secrets that sign, without their texts: from the newest facts that set one or ended older ones. */
async function secretsOf(id: string): Promise<SigningSecrets> {
  const [replaced, created, expired] = await Promise.all([
    newest(id, "WebhookSecretRegenerated"), newest(id, "TenantCreated"), newest(id, "WebhookSecretsExpired"),
  ]);
  const set = replaced ?? created;
  if (!set) throw new Error("The history does not say which secret signs.");
  const last = expired && expired.position > set.position ? expired : replaced;
  return {
    fingerprint: set.data.webhookSecretFingerprint, since: set.time, previous: stillSigning(last?.data.previous),
  };
}

type FactOf<Type extends string> = Extract<Schemas["HistoryItem"], { readonly type: Type }>;

async function newest<Type extends "WebhookSecretRegenerated" | "TenantCreated" | "WebhookSecretsExpired">(
  id: string, Type: Type,
): Promise<FactOf<Type> | undefined> {
  const { items } = await relay.listTenantHistory({ id, Type, TpOrd: "Desc", Qt: 1, Total: false });
  return items.find((fact): fact is FactOf<Type> => fact.type === Type);
}
