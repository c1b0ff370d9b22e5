import { LRUCache } from "lru-cache";
import type { Destination } from "../domain/destination/state.ts";
import type { Tenant } from "../domain/tenant/state.ts";
import type { Sealing, SealingKey } from "../ports/sealing.ts";

/** Where each sealed thing belongs; a value sealed for one place opens at no other. */
export const places = {
  dataKey: (tenantId: string) => `${tenantId}/dataKey`,
  webhookSecret: (tenantId: string) => `${tenantId}/webhookSecret`,
  credentials: (tenantId: string, destinationId: string) => `${tenantId}/destination/${destinationId}/credentials`,
  personKey: (tenantId: string, userId: string) => `${tenantId}/person/${userId}`,
  email: (tenantId: string, userId: string) => `${tenantId}/user/${userId}/email`,
  platform: (name: string) => `platform/${name}`,
} as const;

/** Opens what a tenant's facts hold sealed. Keys and opened values stay in a bounded cache, in memory only. */
export class Vault {
  readonly #sealing: Sealing;
  readonly #keys: LRUCache<string, SealingKey>;
  readonly #opened: LRUCache<string, string>;

  constructor(sealing: Sealing, options: { readonly max: number }) {
    this.#sealing = sealing;
    this.#keys = new LRUCache({ max: options.max });
    this.#opened = new LRUCache({ max: options.max });
  }

  /** The tenant's data key. Throws Unsealable. */
  dataKey(tenant: Pick<Tenant, "id" | "dataKey">): SealingKey {
    const known = this.#keys.get(tenant.dataKey);
    if (known) return known;
    const key = this.#sealing.unwrap(tenant.dataKey, places.dataKey(tenant.id));
    this.#keys.set(tenant.dataKey, key);
    return key;
  }

  /** The tenant's signing secret, `whsec_…`. Throws Unsealable. */
  webhookSecret(tenant: Tenant): string {
    return this.#open(tenant.webhookSecret, tenant, places.webhookSecret(tenant.id));
  }

  /** The credentials a destination was given. Throws Unsealable. */
  credentials(destination: Destination, tenant: Tenant): Readonly<Record<string, string>> | null {
    if (!destination.auth) return null;
    const text = this.#open(destination.auth.credentials, tenant, places.credentials(tenant.id, destination.id));
    return JSON.parse(text) as Record<string, string>;
  }

  /** Seals a text of the tenant's for its place. */
  seal(text: string, tenant: Pick<Tenant, "id" | "dataKey">, place: string): string {
    return this.#sealing.seal(text, this.dataKey(tenant), place);
  }

  #open(sealed: string, tenant: Tenant, place: string): string {
    const known = this.#opened.get(sealed);
    if (known !== undefined) return known;
    const text = this.#sealing.open(sealed, this.dataKey(tenant), place);
    this.#opened.set(sealed, text);
    return text;
  }
}
