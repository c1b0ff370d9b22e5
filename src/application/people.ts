import { LRUCache } from "lru-cache";
import type { PersonEvent } from "../domain/person/person.ts";
import { masterKeyIdOf } from "../domain/platform/platform.ts";
import { streams } from "../domain/streams.ts";
import type { TenantEvent } from "../domain/tenant/events.ts";
import type { Tenant } from "../domain/tenant/state.ts";
import { timestamp } from "../domain/time.ts";
import type { Clock } from "../ports/clock.ts";
import { noStream, type EventStore, type LogEntry, type RecordedEvent } from "../ports/event-store.ts";
import type { Ids } from "../ports/ids.ts";
import { Unsealable, type Sealing, type SealingKey } from "../ports/sealing.ts";
import { entriesOf, type Origin } from "./origin.ts";
import { neededMasterKeys, readPlatformKeys } from "./platform-keys.ts";
import { Recent } from "./recent.ts";
import { places, type Vault } from "./vault.ts";

type KeyedTenant = Pick<Tenant, "id" | "dataKey">;

/**
 * People's addresses. Every email in the log is sealed under its person's own key, which is in a stream of its own:
 * deleting that stream makes the address unreadable wherever it was written.
 */
export class People {
  readonly #parts: { store: EventStore; sealing: Sealing; vault: Vault; clock: Clock; ids: Ids };
  readonly #keys: Recent<SealingKey>;

  constructor(
    parts: { store: EventStore; sealing: Sealing; vault: Vault; clock: Clock; ids: Ids },
    options: { readonly max: number },
  ) {
    this.#parts = parts;
    this.#keys = new Recent(parts.clock, options);
  }

  /** Makes the key of a new person. It is durable when the promise resolves. */
  async create(tenant: KeyedTenant, userId: string, origin: Origin): Promise<void> {
    const { store, vault, clock, ids } = this.#parts;
    const bytes = ids.secretBytes(32);
    const key = vault.seal(Buffer.from(bytes).toString("base64"), tenant, places.personKey(tenant.id, userId));
    const event: PersonEvent = {
      type: "PersonKeyCreated",
      data: { userId, tenantId: tenant.id, key, at: timestamp(clock.now()) },
    };
    await store.append(streams.person(userId), noStream, entriesOf([event], origin, this.#parts));
    this.#keys.set(userId, { bytes });
  }

  /** Seals an address for its person. Throws where the person was deleted. */
  async seal(tenant: KeyedTenant, userId: string, email: string): Promise<string> {
    const key = await this.#key(tenant, userId);
    if (!key) throw new Error(`person ${userId} has no key`);
    return this.#parts.sealing.seal(email, key, places.email(tenant.id, userId));
  }

  /** The address, or null where the person was deleted. */
  async open(tenant: KeyedTenant, userId: string, sealed: string): Promise<string | null> {
    const key = await this.#key(tenant, userId);
    return key ? this.#parts.sealing.open(sealed, key, places.email(tenant.id, userId)) : null;
  }

  /** Erases the person: what was sealed for it stays sealed for good. */
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

/**
 * Prepares entries for the pure projections: sealed addresses in facts about users and invites become clear ones, or
 * null where the person was deleted since. Everything else is passed on.
 */
export class EmailOpener {
  readonly #parts: { store: Pick<EventStore, "readStream">; sealing: Sealing; vault: Vault };
  readonly #tenants: LRUCache<string, KeyedTenant>;

  constructor(
    parts: { store: Pick<EventStore, "readStream">; sealing: Sealing; vault: Vault },
    options: { readonly max: number },
  ) {
    this.#parts = parts;
    this.#tenants = new LRUCache({ max: options.max });
  }

  /**
   * A fact whose address, or whose tenant's key, was damaged is unreadable. Throws LogUnavailable, or Unsealable where
   * a master key that may be needed is not at hand.
   */
  async prepare(entries: readonly LogEntry[]): Promise<readonly LogEntry[]> {
    const concerned = ({ type }: LogEntry) =>
      type === "UserCreated" || type === "UserEmailChanged" || type === "InviteCreated";
    if (!entries.some(concerned)) return entries;
    return Promise.all(entries.map(async (entry) => (concerned(entry) ? this.#open(entry) : entry)));
  }

  async #open(entry: LogEntry): Promise<LogEntry> {
    if (entry.unreadable !== undefined) return entry;
    const data = entry.data as { tenantId: string; email: string; userId?: string; inviteId?: string };
    const { tenantId, email: sealed } = data;
    const userId = data.userId ?? data.inviteId ?? "";
    const tenant = await this.#tenant(tenantId);
    const { store, sealing, vault } = this.#parts;
    let email: string | null;
    try {
      const dataKey = tenant && vault.dataKey(tenant);
      const key = dataKey && (await personKey(store, sealing, dataKey, tenantId, userId));
      email = key ? sealing.open(sealed, key, places.email(tenantId, userId)) : null;
    } catch (error) {
      // The master key is at hand, so the tenant's facts are damaged: they must not hold up all others.
      if (!(error instanceof Unsealable)) throw error;
      if (tenant && (await this.#isAway(masterKeyIdOf(tenant.dataKey)))) throw error;
      const { stream, revision, position, id, type } = entry;
      return { stream, revision, position, id, type, unreadable: "its address cannot be opened" };
    }
    return { ...entry, data: { ...entry.data, email } };
  }

  /** Whether something may be wrapped under a master key that is not at hand. */
  async #isAway(masterKeyId: string): Promise<boolean> {
    const { store, sealing } = this.#parts;
    if (sealing.masterKeyIds.includes(masterKeyId)) return false;
    const stored = await readPlatformKeys(store);
    return !stored || neededMasterKeys(stored.fact).includes(masterKeyId);
  }

  async #tenant(id: string): Promise<KeyedTenant | undefined> {
    const known = this.#tenants.get(id);
    if (known) return known;
    const dataKey = await this.#dataKey(id);
    if (dataKey === undefined) return undefined;
    this.#tenants.set(id, { id, dataKey });
    return { id, dataKey };
  }

  /** The tenant's data key as it was wrapped first, unless that master key is gone: then as it was wrapped last. */
  async #dataKey(tenantId: string): Promise<string | undefined> {
    const { store, sealing } = this.#parts;
    const [entry] = await store.readStream(streams.tenant(tenantId), { limit: 1 });
    const first = entry && wrappedIn(entry);
    if (first === undefined || sealing.masterKeyIds.includes(masterKeyIdOf(first))) return first;
    const entries = await store.readStream(streams.tenant(tenantId));
    return entries.reduce((newest, one) => wrappedIn(one) ?? newest, first);
  }
}

/** The wrapped data key that a fact about a tenant brings. */
function wrappedIn(entry: LogEntry): string | undefined {
  if (entry.unreadable !== undefined) return undefined;
  const event = entry as RecordedEvent<TenantEvent>;
  if (event.type !== "TenantCreated" && event.type !== "TenantDataKeyRewrapped") return undefined;
  return event.data.dataKey;
}

async function personKey(
  store: Pick<EventStore, "readStream">,
  sealing: Sealing,
  dataKey: SealingKey,
  tenantId: string,
  userId: string,
): Promise<SealingKey | undefined> {
  const [entry] = await store.readStream(streams.person(userId), { limit: 1 });
  if (!entry || entry.unreadable !== undefined) return undefined;
  const { key } = (entry as RecordedEvent<PersonEvent>).data;
  // A copy: the decoded key is a slice of a pool, which would be kept along with it.
  const decoded = Buffer.from(sealing.open(key, dataKey, places.personKey(tenantId, userId)), "base64");
  return { bytes: new Uint8Array(decoded) };
}
