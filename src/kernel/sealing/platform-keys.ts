import { streams } from "../domain/streams.ts";
import { entriesOf, serviceOrigin } from "../log/origin.ts";
import { refuseUnreadable } from "../log/unreadable.ts";
import { type Clock, timestampNow } from "../ports/clock.ts";
import { noStream, RevisionConflict, type EventStore, type RecordedEvent } from "../ports/event-store.ts";
import type { Ids } from "../ports/ids.ts";
import type { Sealing } from "../ports/sealing.ts";
import { comparableEmail, comparableName, keyedHash } from "../tools/hashing.ts";
import { EventKeys } from "./event-keys.ts";
import { masterKeyIdOf, type PlatformEvent, type WrappedPlatformKeys } from "./facts.ts";
import { places } from "./vault.ts";

/** The keys of the whole installation, opened. */
export interface OpenedPlatformKeys {
  /** For the keyed hashes of emails and tenant names. */
  readonly nameHashKey: Uint8Array;
  readonly tokenKey: Uint8Array;
  /** Whether the ids of all events with idempotency keys are made under a key: see {@link EventKeys}. */
  readonly keyedEventIds: boolean;
}

/** The keys of the installation, with the event keys derived from them. */
export interface LoadedPlatformKeys extends OpenedPlatformKeys {
  readonly events: EventKeys;
}

/** The newest fact about the platform's keys, and its revision. */
export interface StoredPlatformKeys {
  readonly revision: number;
  readonly fact: PlatformEvent;
}

interface PlatformKeyParts {
  readonly store: EventStore;
  readonly sealing: Sealing;
  readonly clock: Clock;
  readonly ids: Ids;
}

/** The installation's own keys: made by the first process that needs them, the same for all from then on. */
export class PlatformKeys {
  readonly #parts: PlatformKeyParts;
  #keys: Promise<LoadedPlatformKeys> | undefined;

  constructor(parts: PlatformKeyParts) {
    this.#parts = parts;
  }

  get(): Promise<LoadedPlatformKeys> {
    this.#keys ??= this.#load().catch((error: unknown) => {
      this.#keys = undefined;
      throw error;
    });
    return this.#keys;
  }

  async emailHash(email: string): Promise<string> {
    return keyedHash((await this.get()).nameHashKey, comparableEmail(email));
  }

  async nameHash(name: string): Promise<string> {
    return keyedHash((await this.get()).nameHashKey, comparableName(name));
  }

  async #load(): Promise<LoadedPlatformKeys> {
    const keys = (await this.#read()) ?? (await this.#create());
    return { ...keys, events: new EventKeys(keys) };
  }

  async #read(): Promise<OpenedPlatformKeys | undefined> {
    const { store, sealing } = this.#parts;
    const stored = await readPlatformKeys(store);
    return stored && openPlatformKeys(stored.fact, sealing);
  }

  async #create(): Promise<OpenedPlatformKeys> {
    const { store, sealing, clock, ids } = this.#parts;
    const keys = { nameHashKey: ids.secretBytes(32), tokenKey: ids.secretBytes(32), keyedEventIds: true };
    const at = timestampNow(clock);
    const event: PlatformEvent = { type: "PlatformKeysCreated", data: { ...wrapPlatformKeys(keys, sealing), at } };
    const origin = serviceOrigin("platform", ids);
    try {
      await store.append(streams.platform, noStream, entriesOf([event], origin, ids));
      return keys;
    } catch (error) {
      const theirs = error instanceof RevisionConflict ? await this.#read() : undefined;
      if (theirs) return theirs;
      throw error;
    }
  }
}

/** The platform's keys in the log, undefined before there are any. Throws an UnreadableRecord. */
export async function readPlatformKeys(store: Pick<EventStore, "readStream">): Promise<StoredPlatformKeys | undefined> {
  const [entry] = await store.readStream(streams.platform, { backwards: true, limit: 1 });
  if (!entry) return undefined;
  if (entry.unreadable !== undefined) refuseUnreadable("the record of the platform's keys", entry);
  return { revision: entry.revision, fact: entry as RecordedEvent<PlatformEvent> };
}

/** Ids of the master keys that something may be wrapped under; the first wrapped the platform's own. */
export function neededMasterKeys({ type, data }: PlatformEvent): readonly string[] {
  return type === "PlatformKeysRewrapped" ? data.masterKeys : [masterKeyIdOf(data.tokenKey)];
}

/** Throws Unsealable. */
export function openPlatformKeys({ data }: PlatformEvent, sealing: Sealing): OpenedPlatformKeys {
  return {
    nameHashKey: sealing.unwrap(data.nameHashKey, places.platform("nameHashKey")),
    tokenKey: sealing.unwrap(data.tokenKey, places.platform("tokenKey")),
    keyedEventIds: data.keyedEventIds ?? false,
  };
}

/** The keys under the newest master key. */
export function wrapPlatformKeys(
  keys: OpenedPlatformKeys,
  sealing: Sealing,
): WrappedPlatformKeys {
  return {
    nameHashKey: sealing.wrap(keys.nameHashKey, places.platform("nameHashKey")),
    tokenKey: sealing.wrap(keys.tokenKey, places.platform("tokenKey")),
    ...(keys.keyedEventIds && { keyedEventIds: true }),
  };
}
