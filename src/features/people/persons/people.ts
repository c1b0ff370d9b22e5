import { refuse } from "../../../kernel/domain/refusal.ts";
import { streams } from "../../../kernel/domain/streams.ts";
import type { KernelParts } from "../../../kernel/kernel-parts.ts";
import { entriesOf, type Origin } from "../../../kernel/log/origin.ts";
import { refuseUnreadable } from "../../../kernel/log/unreadable.ts";
import { timestampNow } from "../../../kernel/ports/clock.ts";
import { noStream, type EventStore, type RecordedEvent } from "../../../kernel/ports/event-store.ts";
import type { Sealing, SealingKey } from "../../../kernel/ports/sealing.ts";
import { places } from "../../../kernel/sealing/vault.ts";
import { RecentlyUsed } from "../../../kernel/tools/recently-used.ts";
import type { Tenant } from "../../tenants/facts.ts";
import type { PersonEvent } from "./facts.ts";

/** A tenant, as far as its data key goes. */
export type KeyedTenant = Pick<Tenant, "id" | "dataKey">;

/** People's addresses, each sealed under a key in its person's own stream. Throws LogUnavailable, Unsealable. */
export class People {
  readonly #parts;
  readonly #keys: RecentlyUsed<SealingKey>;

  constructor(
    parts: Pick<KernelParts, "store" | "sealing" | "vault" | "clock" | "ids">,
    options: { readonly max: number },
  ) {
    this.#parts = parts;
    this.#keys = new RecentlyUsed(parts.clock, options);
  }

  /** Makes the key of a new person. It is durable when the promise resolves. */
  async create(tenant: KeyedTenant, userId: string, origin: Origin): Promise<void> {
    const { store, vault, clock, ids } = this.#parts;
    const key = ids.secretBytes(32);
    const sealed = vault.seal(Buffer.from(key).toString("base64"), tenant, places.personKey(tenant.id, userId));
    const event: PersonEvent = {
      type: "PersonKeyCreated",
      data: { userId, tenantId: tenant.id, key: sealed, at: timestampNow(clock) },
    };
    await store.append(streams.person(userId), noStream, entriesOf([event], origin, ids));
    this.#keys.set(userId, key);
  }

  /** Seals an address for its person. Throws a Refusal (not-found) where the person was deleted. */
  async seal(tenant: KeyedTenant, userId: string, email: string): Promise<string> {
    const key = await this.#key(tenant, userId);
    if (!key) refuse("not-found", "user not found");
    return this.#parts.sealing.seal(email, key, places.email(tenant.id, userId));
  }

  /** The address, or null where the person was deleted. */
  async open(tenant: KeyedTenant, userId: string, sealed: string): Promise<string | null> {
    const key = await this.#key(tenant, userId);
    return key ? this.#parts.sealing.open(sealed, key, places.email(tenant.id, userId)) : null;
  }

  /** Deletes the person's key: addresses sealed under it can never be opened again. */
  async forget(userId: string): Promise<void> {
    this.#keys.delete(userId);
    await this.#parts.store.deleteStream(streams.person(userId));
  }

  async #key(tenant: KeyedTenant, userId: string): Promise<SealingKey | undefined> {
    const known = this.#keys.get(userId);
    if (known) return known;
    const { store, sealing, vault } = this.#parts;
    const key = await personKey(store, sealing, vault.dataKey(tenant), tenant.id, userId);
    if (key) this.#keys.set(userId, key);
    return key;
  }
}

/** The key of a person, undefined once deleted. Throws LogUnavailable, Unsealable, or an UnreadableRecord. */
export async function personKey(
  store: Pick<EventStore, "readStream">,
  sealing: Sealing,
  dataKey: SealingKey,
  tenantId: string,
  userId: string,
): Promise<SealingKey | undefined> {
  const [entry] = await store.readStream(streams.person(userId), { limit: 1 });
  if (!entry) return undefined;
  if (entry.unreadable !== undefined) return entry.newer ? refuseUnreadable("a person's record", entry) : undefined;
  const { key } = (entry as RecordedEvent<PersonEvent>).data;
  // A copy: the decoded key is a slice of a pool, which would be kept along with it.
  return new Uint8Array(Buffer.from(sealing.open(key, dataKey, places.personKey(tenantId, userId)), "base64"));
}
