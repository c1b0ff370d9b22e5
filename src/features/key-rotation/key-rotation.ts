import { wrappedKeys, tokenKeyName } from "../../../projections/wrapped-keys/wrapped-keys.ts";
import { Refusal } from "../../kernel/domain/refusal.ts";
import { streams } from "../../kernel/domain/streams.ts";
import type { KernelParts } from "../../kernel/kernel-parts.ts";
import { hasNewerStream } from "../../kernel/log/newer-streams.ts";
import { entriesOf, serviceOrigin, type Origin } from "../../kernel/log/origin.ts";
import { timestampNow } from "../../kernel/ports/clock.ts";
import { RevisionConflict } from "../../kernel/ports/event-store.ts";
import type { ReadModels } from "../../kernel/ports/read-models.ts";
import { Unsealable, type Sealing } from "../../kernel/ports/sealing.ts";
import { pagesOf, documentOf } from "../../kernel/read-models/scans.ts";
import { masterKeyIdOf, type PlatformEvent } from "../../kernel/sealing/facts.ts";
import {
  neededMasterKeys, openPlatformKeys, readPlatformKeys, wrapPlatformKeys, type StoredPlatformKeys,
} from "../../kernel/sealing/platform-keys.ts";
import { places } from "../../kernel/sealing/vault.ts";
import { decide } from "../tenants/decide.ts";
import { tenants } from "../tenants/facts.ts";

/** A master key that something may still be wrapped under is not at hand. */
export class MasterKeyMissing extends Error {
  readonly masterKeyId: string;
  /** Whether it is the one that wrapped the platform's own keys last. */
  readonly newest: boolean;

  constructor(masterKeyId: string, newest: boolean) {
    super(`keys may still be wrapped under master key ${masterKeyId}, which is not at hand`);
    this.name = "MasterKeyMissing";
    this.masterKeyId = masterKeyId;
    this.newest = newest;
  }
}

const page = 100;
const patienceMs = 5_000;

const most = 1_000;

const collection = wrappedKeys.name;

/** How far a rotation came. */
export interface Rotated {
  readonly rewrapped: number;
  /** Keys that could not be re-wrapped, at least; their master keys stay needed. */
  readonly left: number;
  /** Whether nothing needs another master key than the newest any more. */
  readonly through: boolean;
}

/** How a master key is used. */
export interface MasterKeyUse {
  readonly masterKeyId: string;
  readonly wraps: number;
  /** Whether a start without it would be refused. */
  readonly needed: boolean;
}

/** Re-wraps every key under the newest master key, one append each: it can stop and be resumed. */
export class KeyRotation {
  readonly #parts;
  readonly #current: string;

  constructor(parts: Pick<KernelParts, "store" | "sealing" | "readModels" | "aggregates" | "clock" | "ids">) {
    this.#parts = parts;
    this.#current = parts.sealing.masterKeyIds[0] ?? "";
  }

  /** Adds the newest master key to those needed. Throws MasterKeyMissing, Unsealable, LogUnavailable. */
  async begin(): Promise<void> {
    const stored = await readPlatformKeys(this.#parts.store);
    if (!stored) return;
    const needed = neededMasterKeys(stored.fact);
    const missing = needed.find((id) => !this.#parts.sealing.masterKeyIds.includes(id));
    if (missing !== undefined) throw new MasterKeyMissing(missing, missing === needed[0]);
    if (needed[0] === this.#current) return;
    const together = [this.#current, ...needed.filter((id) => id !== this.#current)];
    if (!(await this.#append(stored, together))) await this.begin();
  }

  /** Re-wraps the keys under older master keys. Ends early once `stopped`, or where a newer master key came. */
  async finish(stopped: () => boolean): Promise<Rotated> {
    const { store } = this.#parts;
    let rewrapped = 0;
    for (;;) {
      const stored = await readPlatformKeys(store);
      if (stopped() || !stored || neededMasterKeys(stored.fact)[0] !== this.#current) {
        return { rewrapped, left: 0, through: false };
      }
      await this.#caughtUp(stopped);
      const pass = await this.#pass(stopped);
      rewrapped += pass.rewrapped;
      if (pass.left > 0) return { rewrapped, left: pass.left, through: false };
      // Only a pass that found nothing to do shows that nothing is left.
      if (pass.rewrapped > 0 || stopped()) continue;
      if (neededMasterKeys(stored.fact).length === 1) return { rewrapped, left: 0, through: true };
      // The read models may not know the key of a tenant whose record only a newer release can read.
      if (await hasNewerStream(this.#parts, tenants.category)) return { rewrapped, left: 1, through: false };
      await this.#append(stored, [this.#current]);
    }
  }

  async #pass(stopped: () => boolean): Promise<{ readonly rewrapped: number; readonly left: number }> {
    const { readModels } = this.#parts;
    let [rewrapped, left] = [0, 0];
    for (const masterKeyId of await wrappingKeys(readModels)) {
      if (masterKeyId === this.#current) continue;
      for await (const wrapped of pagesOf(readModels, wrappedKeys, { where: { masterKeyId }, size: page })) {
        for (const { tenantId } of wrapped) {
          if (stopped()) return { rewrapped, left };
          if (tenantId === null) continue;
          const outcome = await this.#rewrap(tenantId);
          if (outcome === "rewrapped") rewrapped += 1;
          else if (outcome === "left") left += 1;
        }
      }
    }
    return { rewrapped, left };
  }

  async #rewrap(tenantId: string): Promise<"rewrapped" | "left" | "none"> {
    const { aggregates, sealing, clock } = this.#parts;
    try {
      const { state } = await aggregates.current(tenants, tenantId);
      if (!state || masterKeyIdOf(state.dataKey) === this.#current) return "none";
      const from = state.dataKey;
      const place = places.dataKey(tenantId);
      const dataKey = sealing.wrap(sealing.unwrap(from, place), place);
      const command = { type: "RewrapDataKey", from, dataKey, at: timestampNow(clock) } as const;
      await aggregates.change(tenants, tenantId, this.#origin(), (current) => current ? decide(current, command) : []);
      return "rewrapped";
    } catch (error) {
      // One tenant whose key does not open, or whose record cannot be read, must not hold up the others.
      if (!(error instanceof Unsealable) && !(error instanceof Refusal)) throw error;
      return "left";
    }
  }

  /** False where another process was first. */
  async #append({ fact, revision }: StoredPlatformKeys, masterKeys: readonly string[]): Promise<boolean> {
    const { store, sealing, clock } = this.#parts;
    const keys = wrapPlatformKeys(openPlatformKeys(fact, sealing), sealing);
    const data = { ...keys, masterKeys, at: timestampNow(clock) };
    const event: PlatformEvent = { type: "PlatformKeysRewrapped", data };
    try {
      await store.append(streams.platform, revision, entriesOf([event], this.#origin(), this.#parts.ids));
    } catch (error) {
      if (!(error instanceof RevisionConflict)) throw error;
      return false;
    }
    return true;
  }

  /** Waits until the read models surely hold the keys created under another master key before this process started. */
  async #caughtUp(stopped: () => boolean): Promise<void> {
    const { store, readModels } = this.#parts;
    const head = await store.head();
    while (!stopped() && !(await readModels.caughtUp(head, patienceMs)));
  }

  #origin(): Origin {
    return serviceOrigin("key-rotation", this.#parts.ids);
  }
}

/** Every master key that is at hand, needed, or wraps something, as far as the log was projected; the newest first. */
export async function keyInventory(
  readModels: Pick<ReadModels, "get" | "count" | "distinct">,
  { masterKeyIds }: Pick<Sealing, "masterKeyIds">,
): Promise<readonly MasterKeyUse[]> {
  const inUse = await wrappingKeys(readModels);
  const platform = await documentOf(readModels, wrappedKeys, tokenKeyName);
  const needed = platform ? platform.masterKeys ?? [platform.masterKeyId] : [];
  const all = new Set([...masterKeyIds, ...needed, ...inUse]);
  return Promise.all([...all].map(async (masterKeyId) => ({
    masterKeyId,
    wraps: await wrappedBy(readModels, masterKeyId),
    needed: needed.includes(masterKeyId),
  })));
}

/** How many keys other master keys than the newest wrap. Its own, one for each tenant, are not looked at. */
export async function keysUnderOldMasterKeys(
  readModels: Pick<ReadModels, "count" | "distinct">,
  { masterKeyIds: [newest] }: Pick<Sealing, "masterKeyIds">,
): Promise<number> {
  const old = (await wrappingKeys(readModels)).filter((id) => id !== newest);
  const counts = await Promise.all(old.map((id) => wrappedBy(readModels, id)));
  return counts.reduce((sum, count) => sum + count, 0);
}

/** The ids of all master keys that wrap anything, as far as the log was projected. */
export async function wrappingKeys(readModels: Pick<ReadModels, "distinct">): Promise<readonly string[]> {
  return await readModels.distinct({ collection }, "masterKeyId", { limit: most }) as readonly string[];
}

function wrappedBy(readModels: Pick<ReadModels, "count">, masterKeyId: string): Promise<number> {
  return readModels.count({ collection, where: { masterKeyId } });
}
