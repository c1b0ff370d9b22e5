import type { Destination, DestinationAuth } from "../../features/destinations/facts.ts";
import type { Tenant } from "../../features/tenants/facts.ts";
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

/** Opens the sealed values in a tenant's facts. They stay open, in memory only, for as long as the folded facts do. */
export class Vault {
  readonly #sealing: Sealing;
  readonly #keys = new WeakMap<Pick<Tenant, "dataKey">, SealingKey>();
  readonly #opened = new WeakMap<Tenant | DestinationAuth, string>();

  constructor(sealing: Sealing) {
    this.#sealing = sealing;
  }

  /** The tenant's data key. Throws Unsealable. */
  dataKey(tenant: Pick<Tenant, "id" | "dataKey">): SealingKey {
    const known = this.#keys.get(tenant);
    if (known) return known;
    const key = this.#sealing.unwrap(tenant.dataKey, places.dataKey(tenant.id));
    this.#keys.set(tenant, key);
    return key;
  }

  /** The tenant's signing secret, `whsec_…`. Throws Unsealable. */
  webhookSecret(tenant: Tenant): string {
    return this.#open(tenant, tenant.webhookSecret, tenant, places.webhookSecret(tenant.id));
  }

  /** The credentials a destination was given. Throws Unsealable. */
  credentials({ id, auth }: Destination, tenant: Tenant): Readonly<Record<string, string>> | null {
    if (!auth) return null;
    const text = this.#open(auth, auth.credentials, tenant, places.credentials(tenant.id, id));
    return JSON.parse(text) as Record<string, string>;
  }

  /** Seals a text of the tenant's for its place. Throws Unsealable where the data key does not open. */
  seal(text: string, tenant: Pick<Tenant, "id" | "dataKey">, place: string): string {
    return this.#sealing.seal(text, this.dataKey(tenant), place);
  }

  #open(holder: Tenant | DestinationAuth, sealed: string, tenant: Tenant, place: string): string {
    const known = this.#opened.get(holder);
    if (known !== undefined) return known;
    const text = this.#sealing.open(sealed, this.dataKey(tenant), place);
    this.#opened.set(holder, text);
    return text;
  }
}
