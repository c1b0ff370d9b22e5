import { LRUCache } from "lru-cache";
import { streams } from "../../../kernel/domain/streams.ts";
import type { KernelParts } from "../../../kernel/kernel-parts.ts";
import { readPages } from "../../../kernel/log/long-reads.ts";
import { isNewer, refuseUnreadable } from "../../../kernel/log/unreadable.ts";
import type { EventStore, LogEntry, RecordedEvent } from "../../../kernel/ports/event-store.ts";
import { Unsealable } from "../../../kernel/ports/sealing.ts";
import { masterKeyIdOf } from "../../../kernel/sealing/facts.ts";
import { neededMasterKeys, readPlatformKeys } from "../../../kernel/sealing/platform-keys.ts";
import { places } from "../../../kernel/sealing/vault.ts";
import { facts } from "../../facts.ts";
import type { TenantEvent } from "../../tenants/facts.ts";
import { personKey, type KeyedTenant } from "./people.ts";

const typesWithEmail: ReadonlySet<string> = new Set(
  [...facts].filter(([, { data }]) => "email" in data).map(([type]) => type));

/** Prepares entries for the projections: sealed addresses become clear, or null where the person was deleted. */
export class EmailOpener {
  readonly #parts;
  readonly #tenants: LRUCache<string, KeyedTenant>;

  constructor(
    parts: Pick<KernelParts, "sealing" | "vault"> & { readonly store: Pick<EventStore, "readStream"> },
    options: { readonly max: number },
  ) {
    this.#parts = parts;
    this.#tenants = new LRUCache({ max: options.max });
  }

  /** Opens the addresses of entries. Throws LogUnavailable, or Unsealable where a master key is not at hand. */
  async prepare(entries: readonly LogEntry[]): Promise<readonly LogEntry[]> {
    const concerned = ({ type }: LogEntry) => typesWithEmail.has(type);
    if (!entries.some(concerned)) return entries;
    return Promise.all(entries.map(async (entry) => (concerned(entry) ? this.#open(entry) : entry)));
  }

  async #open(entry: LogEntry): Promise<LogEntry> {
    if (entry.unreadable !== undefined) return entry;
    const data = entry.data as { tenantId: string; email: string; userId?: string; inviteId?: string };
    const { tenantId, email: sealed } = data;
    const userId = data.userId ?? data.inviteId ?? "";
    const { store, sealing, vault } = this.#parts;
    let tenant: KeyedTenant | undefined;
    let email: string | null;
    try {
      tenant = await this.#tenant(tenantId);
      const dataKey = tenant && vault.dataKey(tenant);
      const key = dataKey && (await personKey(store, sealing, dataKey, tenantId, userId));
      email = key ? sealing.open(sealed, key, places.email(tenantId, userId)) : null;
    } catch (error) {
      const { stream, revision, position, id, type } = entry;
      const head = { stream, revision, position, id, type };
      if (isNewer(error)) return { ...head, unreadable: `its address waits: ${error.message}`, newer: true };
      // The master key is at hand, so the tenant's facts are damaged: they must not hold up all others.
      if (!(error instanceof Unsealable)) throw error;
      if (tenant && (await this.#isAway(masterKeyIdOf(tenant.dataKey)))) throw error;
      return { ...head, unreadable: "its address cannot be opened", newer: false };
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

  /** The tenant's data key as first wrapped, or last where that master key is gone. Throws an UnreadableRecord. */
  async #dataKey(tenantId: string): Promise<string | undefined> {
    const { store, sealing } = this.#parts;
    const [entry] = await store.readStream(streams.tenant(tenantId), { limit: 1 });
    const first = entry && wrappedIn(entry);
    if (first === undefined || sealing.masterKeyIds.includes(masterKeyIdOf(first))) return first;
    let newest = first;
    await readPages(store, streams.tenant(tenantId), (page) => {
      newest = page.reduce((last, one) => wrappedIn(one) ?? last, newest);
    });
    return newest;
  }
}

function wrappedIn(entry: LogEntry): string | undefined {
  if (entry.unreadable !== undefined) return entry.newer ? refuseUnreadable("a tenant's record", entry) : undefined;
  const event = entry as RecordedEvent<TenantEvent>;
  if (event.type !== "TenantCreated" && event.type !== "TenantDataKeyRewrapped") return undefined;
  return event.data.dataKey;
}
