import type { PlatformEvent } from "../domain/platform/platform.ts";
import { Refusal } from "../domain/refusal.ts";
import { streams } from "../domain/streams.ts";
import { timestamp } from "../domain/time.ts";
import type { Clock } from "../ports/clock.ts";
import { noStream, RevisionConflict, type EventStore } from "../ports/event-store.ts";
import type { Ids } from "../ports/ids.ts";
import type { Sealing } from "../ports/sealing.ts";
import { entriesOf } from "./origin.ts";
import { places } from "./vault.ts";

/** The keys of the whole installation, opened. */
export interface OpenedPlatformKeys {
  /** For the keyed hashes of emails and tenant names. */
  readonly nameHashKey: Uint8Array;
  /** For signing access tokens. */
  readonly tokenKey: Uint8Array;
}

/** The installation's own keys: made by whichever process needs them first, the same for all from then on. */
export class PlatformKeys {
  readonly #parts: { store: EventStore; sealing: Sealing; clock: Clock; ids: Ids };
  #keys: Promise<OpenedPlatformKeys> | undefined;

  constructor(parts: { store: EventStore; sealing: Sealing; clock: Clock; ids: Ids }) {
    this.#parts = parts;
  }

  /** Throws LogUnavailable, or Unsealable where the master key is not the one they were wrapped by. */
  get(): Promise<OpenedPlatformKeys> {
    this.#keys ??= this.#load().catch((error: unknown) => {
      this.#keys = undefined;
      throw error;
    });
    return this.#keys;
  }

  async #load(): Promise<OpenedPlatformKeys> {
    return (await this.#read()) ?? (await this.#create());
  }

  async #read(): Promise<OpenedPlatformKeys | undefined> {
    const [entry] = await this.#parts.store.readStream(streams.platform, { limit: 1 });
    if (!entry) return undefined;
    if (entry.unreadable !== undefined) throw new Refusal("unavailable", "the platform's keys cannot be read");
    const { nameHashKey, tokenKey } = (entry as unknown as PlatformEvent).data;
    const { sealing } = this.#parts;
    return {
      nameHashKey: sealing.unwrap(nameHashKey, places.platform("nameHashKey")).bytes,
      tokenKey: sealing.unwrap(tokenKey, places.platform("tokenKey")).bytes,
    };
  }

  async #create(): Promise<OpenedPlatformKeys> {
    const { store, sealing, clock, ids } = this.#parts;
    const keys = { nameHashKey: ids.secretBytes(32), tokenKey: ids.secretBytes(32) };
    const event: PlatformEvent = {
      type: "PlatformKeysCreated",
      data: {
        nameHashKey: sealing.wrap({ bytes: keys.nameHashKey }, places.platform("nameHashKey")),
        tokenKey: sealing.wrap({ bytes: keys.tokenKey }, places.platform("tokenKey")),
        at: timestamp(clock.now()),
      },
    };
    const actor = { type: "service", part: "platform" } as const;
    const origin = { actor, correlationId: ids.uuid(), causationId: null };
    try {
      await store.append(streams.platform, noStream, entriesOf([event], origin, this.#parts));
      return keys;
    } catch (error) {
      // Another process made them first: those are the platform's.
      const theirs = error instanceof RevisionConflict ? await this.#read() : undefined;
      if (theirs) return theirs;
      throw error;
    }
  }
}
