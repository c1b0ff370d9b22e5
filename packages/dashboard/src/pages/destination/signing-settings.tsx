import { useQuery } from "@tanstack/react-query";
import type { Schemas } from "@webhook-relay/client";
import { useState, type ReactNode } from "react";
import { relayClock } from "../../api/clock.ts";
import { relay } from "../../api/relay.ts";
import { useMay } from "../../app/session.ts";
import { Copy } from "../../parts/copy.tsx";
import { Confirm } from "../../parts/questions.tsx";
import { newestFact, SigningSecret, stillSigning, type SigningSecrets } from "../../parts/signing-secrets.tsx";
import { Answered, Loading, NoRight, textOf } from "../../parts/states.tsx";
import { Moment } from "../../parts/time.tsx";
import shared from "../../style/shared.module.css";
import { SettingsGroup } from "./settings-group.tsx";
import { useRefresh } from "./use-destination.ts";
import { waitingText } from "./waiting.ts";

/** The own signing secrets and keys of a destination. */
interface Signing {
  /** The destination's own secrets; null where the tenant's sign. */
  readonly secrets: SigningSecrets | null;
  readonly key: PublicKey | null;
}

type SigningFact = Extract<Schemas["HistoryItem"]["type"], `Destination${"Secret" | "Signing"}${string}`>;

interface PublicKey {
  readonly publicKey: string;
  readonly since: string;
}

/** The secret and the key of a destination's own, and the acts on them. */
export function SigningSettings({ destination }: { readonly destination: Schemas["Destination"] }): ReactNode {
  const { id, name, url, health } = destination;
  const may = useMay();
  const refresh = useRefresh(id);
  const query = useQuery({
    queryKey: ["listDestinationHistory", { id, of: "signing" }], queryFn: () => signingOf(id), refetchInterval: 15_000,
  });
  return (
    <SettingsGroup
      title="Signing" about="Receivers verify by the signature that a request is the relay’s."
      affects={waitingText(health, "A change applies from the next attempt on.", "They are signed as it says then.")}
    >
      <Answered query={query} loading={<Loading lines={4} />}>
        {({ secrets, key }) => (
          <div className={shared.section}>
            <h3>Secret</h3>
            {!secrets && <p>The tenant’s webhook secret signs.</p>}
            <SigningSecret
              called="signing secret" owner={name ?? new URL(url).host} secrets={secrets} changed={refresh}
              acts={{
                ...may("getSigningSecret") && { show: () => relay.getSigningSecret({ id }) },
                ...may("replaceSigningSecret") && {
                  replace: (request) => relay.replaceSigningSecret({ id }, request),
                },
                ...may("expireSigningSecrets") && { expire: () => relay.expireSigningSecrets({ id }) },
                ...may("removeSigningSecret") && { remove: () => relay.removeSigningSecret({ id }) },
              }}
            />
            <h3>Ed25519 key</h3>
            <SigningKey id={id} of={key} changed={refresh} />
            {!may("replaceSigningSecret") && (
              <NoRight>Developers, Admins and Owners see secrets, and change how deliveries are signed.</NoRight>
            )}
          </div>
        )}
      </Answered>
    </SettingsGroup>
  );
}

/** The public key, and the acts on it. */
function SigningKey({ id, of, changed }: {
  readonly id: string; readonly of: PublicKey | null; readonly changed: () => Promise<void>;
}): ReactNode {
  const may = useMay();
  const [asks, setAsks] = useState<"replace" | "remove">();
  const [problem, setProblem] = useState("");
  const close = () => setAsks(undefined);
  const replace = async () => {
    await relay.replaceSigningKey({ id });
    await changed();
  };
  const create = () => {
    setProblem("");
    replace().catch((error: unknown) => setProblem(textOf(error)));
  };
  const remove = async () => {
    await relay.removeSigningKey({ id });
    await changed();
  };
  return (
    <>
      {of ? (
        <dl className={shared.facts}>
          <dt>Public key</dt>
          <dd><code>{of.publicKey}</code> <Copy text={of.publicKey} label="Copy the public key" /></dd>
          <dt>In use since</dt><dd><Moment at={of.since} /></dd>
        </dl>
      ) : <p>None: no delivery has a <code>v1a</code> signature.</p>}
      <div className={shared.acts}>
        {may("replaceSigningKey") && (of
          ? <button type="button" onClick={() => setAsks("replace")}>Make another key…</button>
          : <button type="button" onClick={create}>Make a key</button>)}
        {may("removeSigningKey") && of && (
          <button type="button" className={shared.danger} onClick={() => setAsks("remove")}>Remove the key…</button>
        )}
      </div>
      {problem !== "" && <p className={shared.problem} role="alert">{problem}</p>}
      {asks === "replace" && (
        <Confirm title="Replace the key?" act="Make another key" run={replace} close={close}>
          <p>A receiver that verifies with the present public key refuses deliveries until it has the new one.</p>
        </Confirm>
      )}
      {asks === "remove" && (
        <Confirm title="Remove the key?" act="Remove it" run={remove} close={close}>
          <p>A receiver that verifies with its public key refuses deliveries. Signatures of the secret stay.</p>
        </Confirm>
      )}
    </>
  );
}

/** The signing of a destination, from the newest facts about it. */
async function signingOf(id: string): Promise<Signing> {
  const newest = <Type extends SigningFact>(type: Type) =>
    newestFact(type, (page) => relay.listDestinationHistory({ id, ...page }));
  const [replaced, expired, removed, key, keyRemoved] = await Promise.all([
    newest("DestinationSecretReplaced"), newest("DestinationSecretsExpired"), newest("DestinationSecretRemoved"),
    newest("DestinationSigningKeyReplaced"), newest("DestinationSigningKeyRemoved"),
  ]);
  const hasSecret = replaced && !(removed && removed.revision > replaced.revision);
  const hasKey = key && !(keyRemoved && keyRemoved.revision > key.revision);
  return {
    secrets: hasSecret ? secretsOf(replaced, expired) : null,
    key: hasKey ? { publicKey: key.data.publicKey, since: key.time } : null,
  };
}

function secretsOf(
  replaced: Schemas["DestinationSecretReplacedFact"], expired: Schemas["DestinationSecretsExpiredFact"] | undefined,
): SigningSecrets {
  const { previous, tenantSecretUntil } = (expired && expired.revision > replaced.revision ? expired : replaced).data;
  const isTenantSigning = tenantSecretUntil !== undefined && Date.parse(tenantSecretUntil) > relayClock.now();
  return {
    fingerprint: replaced.data.signingSecretFingerprint, since: replaced.time,
    previous: [
      ...stillSigning(previous),
      ...isTenantSigning ? [{ fingerprint: "the tenant’s secret", expiresAt: tenantSecretUntil }] : [],
    ],
  };
}
