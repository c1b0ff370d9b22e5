import { useQuery, useQueryClient } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { relay } from "../../api/relay.ts";
import { useMay, useMe } from "../../app/session.ts";
import { newestFact, SigningSecret, stillSigning, type SigningSecrets } from "../../parts/signing-secrets.tsx";
import { Answered, Loading, NoRight } from "../../parts/states.tsx";
import shared from "../../style/shared.module.css";

/** The secret that signs all deliveries, how to see or replace it, and the older ones that sign, too. */
export function WebhookSecret(): ReactNode {
  const { tenant: { id, name } } = useMe();
  const may = useMay();
  const queries = useQueryClient();
  const queryKey = ["listTenantHistory", { id, of: "webhookSecret" }];
  const query = useQuery({ queryKey, queryFn: () => secretsOf(id), refetchInterval: 15_000 });
  return (
    <section aria-label="Webhook secret" className={shared.section}>
      <p className={shared.small}>
        It signs every delivery of a destination that has no secret of its own. Your receivers verify with it that a
        request is the relay’s.
      </p>
      <Answered query={query} loading={<Loading lines={2} />}>
        {(secrets) => (
          <SigningSecret
            called="webhook secret" owner={name} secrets={secrets}
            changed={() => queries.invalidateQueries({ queryKey })}
            acts={{
              ...may("getWebhookSecret") && { show: () => relay.getWebhookSecret({ id }) },
              ...may("regenerateWebhookSecret") && {
                replace: (request) => relay.regenerateWebhookSecret({ id }, request),
              },
              ...may("expireWebhookSecrets") && { expire: () => relay.expireWebhookSecrets({ id }) },
            }}
          />
        )}
      </Answered>
      {!may("getWebhookSecret") && <NoRight>Developers, Admins and Owners see the secret and replace it.</NoRight>}
    </section>
  );
}

/** The secrets that sign, without their texts: from the newest facts that set one or ended older ones. */
async function secretsOf(id: string): Promise<SigningSecrets> {
  const newest = <Type extends "WebhookSecretRegenerated" | "TenantCreated" | "WebhookSecretsExpired">(type: Type) =>
    newestFact(type, (page) => relay.listTenantHistory({ id, ...page }));
  const [replaced, created, expired] = await Promise.all([
    newest("WebhookSecretRegenerated"), newest("TenantCreated"), newest("WebhookSecretsExpired"),
  ]);
  const set = replaced ?? created;
  if (!set) throw new Error("The history does not say which secret signs.");
  const last = expired && expired.position > set.position ? expired : replaced;
  return {
    fingerprint: set.data.webhookSecretFingerprint, since: set.time, previous: stillSigning(last?.data.previous),
  };
}
