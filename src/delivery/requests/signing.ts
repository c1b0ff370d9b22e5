import type { KeyObject } from "node:crypto";
import type { Tenant } from "../../features/tenants/facts.ts";
import { activeAt } from "../../kernel/domain/signing-secrets.ts";
import { timestamp, type Timestamp } from "../../kernel/domain/time.ts";
import type { Vault } from "../../kernel/sealing/vault.ts";
import { signerOf, standardKeyOf, type Signer } from "../../kernel/tools/signature.ts";
import { secretForms, type SecretForm } from "./masking.ts";

/** An older secret, readied to sign until its end. */
interface OlderKey {
  readonly key: KeyObject;
  readonly expiresAt: Timestamp;
}

/** The secrets of an attempt, readied to sign and to be masked. */
export interface Signing {
  readonly signer: Signer;
  readonly older: readonly OlderKey[];
  readonly forms: readonly SecretForm[];
}

const noKeys: readonly KeyObject[] = [];

/** Readies secrets once for each state of their tenant. */
export class Signings {
  readonly #vault: Vault;
  readonly #ofTenants = new WeakMap<Tenant, Signing>();

  constructor(vault: Vault) {
    this.#vault = vault;
  }

  /** Throws Unsealable. */
  of(tenant: Tenant): Signing {
    let signing = this.#ofTenants.get(tenant);
    if (!signing) {
      signing = this.#readied(tenant);
      this.#ofTenants.set(tenant, signing);
    }
    return signing;
  }

  #readied(tenant: Tenant): Signing {
    const secret = this.#vault.webhookSecret(tenant);
    const older = tenant.previousSecrets.map((previous) => (
      { secret: this.#vault.previousSecret(previous, tenant), expiresAt: previous.expiresAt }));
    return {
      signer: signerOf(secret),
      older: older.map((each) => ({ key: signerOf(each.secret).standardKey, expiresAt: each.expiresAt })),
      forms: secretForms([secret, ...older.map((each) => each.secret)].map(standardKeyOf)),
    };
  }
}

/** The keys that sign `webhook-signature` at a time (ms since 1970) beside the signer's. */
export function otherKeys({ older }: Signing, at: number): readonly KeyObject[] {
  if (older.length === 0) return noKeys;
  const now = timestamp(at);
  return older.filter(({ expiresAt }) => expiresAt > now).map(({ key }) => key);
}

/** The fingerprints of all secrets that sign an attempt at `at`, the current one first; undefined where one does. */
export function severalFingerprints(tenant: Tenant, at: Timestamp): readonly string[] | undefined {
  const older = activeAt(tenant.previousSecrets, at);
  if (older.length === 0) return undefined;
  return [tenant.webhookSecretFingerprint, ...older.map(({ fingerprint }) => fingerprint)];
}
