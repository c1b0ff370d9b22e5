import type { Sealing, SealingKey } from "../ports/sealing.ts";
import type { KeyPair } from "../tools/key-pair.ts";

/** Where each sealed thing belongs; a value sealed for one place opens at no other. */
export const places = {
  dataKey: (tenantId: string) => `${tenantId}/dataKey`,
  webhookSecret: (tenantId: string) => `${tenantId}/webhookSecret`,
  signingSecret: (tenantId: string, destinationId: string) => `${tenantId}/destination/${destinationId}/signingSecret`,
  signingKey: (tenantId: string, destinationId: string) => `${tenantId}/destination/${destinationId}/signingKey`,
  credentials: (tenantId: string, destinationId: string) => `${tenantId}/destination/${destinationId}/credentials`,
  clientCertificate: (tenantId: string, destinationId: string) =>
    `${tenantId}/destination/${destinationId}/clientCertificate`,
  header: (tenantId: string, destinationId: string, name: string) =>
    `${tenantId}/destination/${destinationId}/header/${name.toLowerCase()}`,
  personKey: (tenantId: string, userId: string) => `${tenantId}/person/${userId}`,
  email: (tenantId: string, userId: string) => `${tenantId}/user/${userId}/email`,
  platform: (name: string) => `platform/${name}`,
} as const;

interface SealedTenant {
  readonly id: string;
  readonly dataKey: string;
  readonly webhookSecret: string;
}

interface Sealed {
  readonly secret: string;
}

interface SealedAuth {
  readonly credentials: string;
}

interface SealedPem {
  readonly pem: string;
}

/** Where a sealed value is: it stays open for as long as this object is in use. */
type Holder = SealedTenant | SealedAuth | SealedPem | Sealed;

/** Fields of credentials; some hold names with values. */
export type OpenCredentials = Readonly<Record<string, string | Readonly<Record<string, string>>>>;

/** Opens the sealed values in a tenant's facts. They stay open, in memory only, for as long as the folded facts do. */
export class Vault {
  readonly #sealing: Sealing;
  readonly #keys = new WeakMap<Pick<SealedTenant, "dataKey">, SealingKey>();
  readonly #opened = new WeakMap<Holder, string>();

  constructor(sealing: Sealing) {
    this.#sealing = sealing;
  }

  dataKey(tenant: Pick<SealedTenant, "id" | "dataKey">): SealingKey {
    const known = this.#keys.get(tenant);
    if (known) return known;
    const key = this.#sealing.unwrap(tenant.dataKey, places.dataKey(tenant.id));
    this.#keys.set(tenant, key);
    return key;
  }

  webhookSecret(tenant: SealedTenant): string {
    return this.#open(tenant, tenant.webhookSecret, tenant, places.webhookSecret(tenant.id));
  }

  /** A secret that signs, beside the tenant's current one. */
  secret(holder: Sealed, tenant: SealedTenant, place: string): string {
    return this.#open(holder, holder.secret, tenant, place);
  }

  credentials(
    { id, auth }: { readonly id: string; readonly auth: SealedAuth | null }, tenant: SealedTenant,
  ): OpenCredentials | null {
    if (!auth) return null;
    const text = this.#open(auth, auth.credentials, tenant, places.credentials(tenant.id, id));
    return JSON.parse(text) as OpenCredentials;
  }

  /** The client certificate of a destination with its private key; null without one. */
  clientCertificate(
    { id, clientCertificate: pair }: { readonly id: string; readonly clientCertificate: SealedPem | null },
    tenant: SealedTenant,
  ): KeyPair | null {
    if (!pair) return null;
    const text = this.#open(pair, pair.pem, tenant, places.clientCertificate(tenant.id, id));
    return JSON.parse(text) as KeyPair;
  }

  /** The headers of a destination with their values. They are not kept open. */
  headers(
    { id, headers }: { readonly id: string; readonly headers: Readonly<Record<string, string>> }, tenant: SealedTenant,
  ): Readonly<Record<string, string>> {
    return Object.fromEntries(Object.entries(headers).map(([name, sealed]) =>
      [name, this.#sealing.open(sealed, this.dataKey(tenant), places.header(tenant.id, id, name))]));
  }

  /** Seals a text of the tenant's for its place. Throws Unsealable where the data key does not open. */
  seal(text: string, tenant: Pick<SealedTenant, "id" | "dataKey">, place: string): string {
    return this.#sealing.seal(text, this.dataKey(tenant), place);
  }

  #open(holder: Holder, sealed: string, tenant: SealedTenant, place: string): string {
    const known = this.#opened.get(holder);
    if (known !== undefined) return known;
    const text = this.#sealing.open(sealed, this.dataKey(tenant), place);
    this.#opened.set(holder, text);
    return text;
  }
}
