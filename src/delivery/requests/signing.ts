import type { KeyObject } from "node:crypto";
import type { Destination } from "../../features/destinations/facts.ts";
import { otherSecrets } from "../../features/destinations/signing/facts.ts";
import { currentSecret, type Tenant } from "../../features/tenants/facts.ts";
import { activeAt, type PreviousSecret } from "../../kernel/domain/signing-secrets.ts";
import { timestamp, type Timestamp } from "../../kernel/domain/time.ts";
import { places, type Vault } from "../../kernel/sealing/vault.ts";
import { privateKeyOf, secretFingerprint, signerOf, standardKeyOf, type Signer } from "../../kernel/tools/signature.ts";
import { secretForms, type SecretForm } from "./masking.ts";

/** A key that signs beside the current secret; null: without an end. */
interface OtherKey {
  readonly key: KeyObject;
  readonly expiresAt: Timestamp | null;
}

/** The secrets of an attempt, readied to sign and to be masked. */
export interface Signing {
  readonly signer: Signer;
  readonly others: readonly OtherKey[];
  readonly forms: readonly SecretForm[];
}

/** A secret in clear, and its end. */
interface OpenSecret {
  readonly text: string;
  readonly expiresAt: Timestamp | null;
}

/** The states that an attempt is signed under. */
interface Signed {
  readonly destination: Destination;
  readonly tenant: Tenant;
}

const noKeys: readonly KeyObject[] = [];

/** Readies secrets once for each state of their tenant, or of their destination if it has its own. */
export class Signings {
  readonly #vault: Vault;
  readonly #ofTenants = new WeakMap<Tenant, Signing>();
  readonly #ofDestinations = new WeakMap<Destination, { readonly tenant: Tenant; readonly signing: Signing }>();

  constructor(vault: Vault) {
    this.#vault = vault;
  }

  /** Throws Unsealable. */
  of({ destination, tenant }: Signed): Signing {
    return isOwn(destination) ? this.#ofDestination(destination, tenant) : this.#ofTenant(tenant);
  }

  #ofTenant(tenant: Tenant): Signing {
    let signing = this.#ofTenants.get(tenant);
    if (!signing) {
      signing = readied(this.#tenantSecrets(tenant), null);
      this.#ofTenants.set(tenant, signing);
    }
    return signing;
  }

  #ofDestination(destination: Destination, tenant: Tenant): Signing {
    const known = this.#ofDestinations.get(destination);
    if (known?.tenant === tenant) return known.signing;
    const { id, signingKey } = destination;
    const secrets = destination.signingSecret ? this.#ownSecrets(destination, tenant) : this.#tenantSecrets(tenant);
    const place = places.signingKey(tenant.id, id);
    const signing = readied(secrets, signingKey && this.#vault.secret(signingKey, tenant, place));
    this.#ofDestinations.set(destination, { tenant, signing });
    return signing;
  }

  #tenantSecrets(tenant: Tenant): readonly OpenSecret[] {
    const place = places.webhookSecret(tenant.id);
    return [{ text: this.#vault.webhookSecret(tenant), expiresAt: null },
      ...this.#opened(tenant.previousSecrets, tenant, place)];
  }

  #ownSecrets({ id, signingSecret }: Destination, tenant: Tenant): readonly OpenSecret[] {
    if (!signingSecret) return [];
    const place = places.signingSecret(tenant.id, id);
    const { previous, tenantSecretUntil } = signingSecret;
    return [
      { text: this.#vault.secret(signingSecret, tenant, place), expiresAt: null },
      ...this.#opened(previous, tenant, place),
      ...(tenantSecretUntil === null ? []
        : [{ text: this.#vault.webhookSecret(tenant), expiresAt: tenantSecretUntil }]),
    ];
  }

  #opened(previous: readonly PreviousSecret[], tenant: Tenant, place: string): readonly OpenSecret[] {
    return previous.map((secret) => (
      { text: this.#vault.secret(secret, tenant, place), expiresAt: secret.expiresAt }));
  }
}

/** The keys that sign `webhook-signature` at a time (ms since 1970) beside the signer's. */
export function otherKeys({ others }: Signing, at: number): readonly KeyObject[] {
  if (others.length === 0) return noKeys;
  const now = timestamp(at);
  return others.filter(({ expiresAt }) => expiresAt === null || expiresAt > now).map(({ key }) => key);
}

/** What an attempt at `at` says of the secrets that sign it; the list of all is undefined where one does. */
export function fingerprintsOf({ destination, tenant }: Signed, at: Timestamp) {
  const { signingSecret, signingKey } = destination;
  const { fingerprint: current } = signingSecret ?? currentSecret(tenant);
  const others = signingSecret ? otherSecrets(signingSecret, tenant.webhookSecretFingerprint, at)
    : activeAt(tenant.previousSecrets, at);
  const all = others.length === 0 ? undefined : [current, ...others.map(({ fingerprint }) => fingerprint)];
  return {
    secretFingerprint: current,
    ...(all && { secretFingerprints: all }),
    ...(signingKey && { signingKeyFingerprint: secretFingerprint(signingKey.publicKey) }),
  };
}

/** Whether an attempt is signed otherwise than by its tenant's current secret alone. */
export function isSignedOtherwise({ destination, tenant }: Signed): boolean {
  return isOwn(destination) || tenant.previousSecrets.length > 0;
}

function isOwn({ signingSecret, signingKey }: Destination): boolean {
  return Boolean(signingSecret ?? signingKey);
}

function readied(secrets: readonly OpenSecret[], privateKey: string | null): Signing {
  const [current, ...older] = secrets.map(({ text, expiresAt }) => ({ signer: signerOf(text), expiresAt }));
  const others = older.map(({ signer, expiresAt }) => ({ key: signer.standardKey, expiresAt }));
  const texts = secrets.map(({ text }) => standardKeyOf(text));
  return {
    signer: current!.signer,
    others: privateKey === null ? others : [...others, { key: privateKeyOf(privateKey), expiresAt: null }],
    forms: secretForms(privateKey === null ? texts : [...texts, privateKey.slice(5)]),
  };
}
