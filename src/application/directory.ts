import { LRUCache } from "lru-cache";
import { isUsable, type ApiKey } from "../domain/api-key/api-key.ts";
import type { ApiKeyEvent } from "../domain/api-key/events.ts";
import type { Circuit } from "../domain/circuit/circuit.ts";
import type { DestinationEvent } from "../domain/destination/events.ts";
import type { Destination } from "../domain/destination/state.ts";
import type { SenderEvent } from "../domain/sender/events.ts";
import type { Sender } from "../domain/sender/state.ts";
import { refuse } from "../domain/refusal.ts";
import { timestamp } from "../domain/time.ts";
import type { Clock } from "../ports/clock.ts";
import type { LogEntry } from "../ports/event-store.ts";
import type { ReadModels } from "../ports/read-models.ts";
import { apiKeys, circuits, destinations, senders } from "./aggregate-types.ts";
import type { Aggregates } from "./aggregates.ts";
import type { Freshness } from "./freshness.ts";

/** The shown status of a destination: its own setting, and its circuit's say. */
export type DestinationStatus = "Active" | "Inactive" | "Suspended";

/** Active unless a person set it Inactive, or its circuit is open. */
export function statusOf(destination: Destination, circuit: Circuit | undefined): DestinationStatus {
  if (!destination.active) return "Inactive";
  return circuit?.position === "Open" ? "Suspended" : "Active";
}

/** How far a process has seen what others changed. */
export interface Following {
  /** Whether everything is known here that was changed a second ago. */
  readonly fresh: boolean;
  /** Resolves true once everything is known that was changed before the call, false when that takes too long. */
  renewed(): Promise<boolean>;
}

/**
 * Who is behind an API key or an ingest token, and whether they may. What belongs to a hash never
 * changes, so found hashes are remembered; an unknown one is refused only after the read models have
 * caught up with the log.
 */
export class Directory {
  readonly #aggregates: Aggregates;
  readonly #readModels: ReadModels;
  readonly #freshness: Freshness;
  readonly #clock: Clock;
  readonly #following: Following;
  readonly #keys: LRUCache<string, string>;
  readonly #tokens: LRUCache<string, string>;
  readonly #senderTokens: LRUCache<string, string>;

  constructor(
    parts: {
      aggregates: Aggregates; readModels: ReadModels; freshness: Freshness; clock: Clock;
      following: Following;
    },
    options: { readonly max: number },
  ) {
    this.#aggregates = parts.aggregates;
    this.#readModels = parts.readModels;
    this.#freshness = parts.freshness;
    this.#clock = parts.clock;
    this.#following = parts.following;
    this.#keys = new LRUCache({ max: options.max });
    this.#tokens = new LRUCache({ max: options.max });
    this.#senderTokens = new LRUCache({ max: options.max });
  }

  /** Remembers the hashes that new entries of the log bring. */
  follow(entries: readonly LogEntry[]): void {
    for (const entry of entries) {
      if (entry.unreadable !== undefined) continue;
      const event = entry as unknown as ApiKeyEvent | DestinationEvent | SenderEvent;
      if (event.type === "ApiKeyIssued") this.#keys.set(event.data.keyHash, event.data.keyId);
      else if (event.type === "DestinationRegistered" || event.type === "IngestTokenRegenerated") {
        this.#tokens.set(event.data.ingestTokenHash, event.data.destinationId);
      } else if (event.type === "SenderCreated" || event.type === "SenderIngestTokenRegenerated") {
        this.#senderTokens.set(event.data.ingestTokenHash, event.data.senderId);
      }
    }
  }

  /** What is in memory changes with this number. */
  get changes(): number {
    return this.#aggregates.changes;
  }

  /**
   * To be awaited before anything is asked: over once nothing in memory is out of date by more than a second, which
   * mostly is so at once. Rejects with a Refusal (unavailable) when that takes over two seconds.
   */
  refreshed(): Promise<void> | undefined {
    return this.#following.fresh ? undefined : this.#renewed();
  }

  /** The usable API key of a hash, or undefined. Answers at once where everything is in memory. */
  apiKey(hash: string): ApiKey | undefined | Promise<ApiKey | undefined> {
    const id = this.#keys.get(hash);
    const cached = id === undefined ? undefined : this.#aggregates.peek(apiKeys, id);
    return cached ? this.#usable(cached.state, hash) : this.#findApiKey(hash);
  }

  /** The destination whose ingest token has this hash, or undefined. */
  destinationByToken(hash: string): Destination | undefined | Promise<Destination | undefined> {
    const id = this.#tokens.get(hash);
    const cached = id === undefined ? undefined : this.#aggregates.peek(destinations, id);
    return cached ? reachable(cached.state, hash) : this.#findDestination(hash);
  }

  /** The sender whose ingest token has this hash, or undefined. */
  senderByToken(hash: string): Sender | undefined | Promise<Sender | undefined> {
    const id = this.#senderTokens.get(hash);
    const cached = id === undefined ? undefined : this.#aggregates.peek(senders, id);
    return cached ? reachable(cached.state, hash) : this.#findSender(hash);
  }

  /** A destination, deleted or not; undefined where there never was one. */
  destination(id: string): Destination | undefined | Promise<Destination | undefined> {
    const cached = this.#aggregates.peek(destinations, id);
    return cached ? cached.state : this.#aggregates.read(destinations, id).then(({ state }) => state);
  }

  /** The status of a destination, its circuit's part included. */
  status(destination: Destination): DestinationStatus | Promise<DestinationStatus> {
    const circuit = this.#aggregates.peek(circuits, destination.id);
    if (circuit) return statusOf(destination, circuit.state);
    return this.#aggregates.read(circuits, destination.id).then(({ state }) => statusOf(destination, state));
  }

  async #findApiKey(hash: string): Promise<ApiKey | undefined> {
    const id = await this.#owner(this.#keys, "keyHashes", hash, "keyId");
    return id === undefined ? undefined : this.#usable((await this.#aggregates.read(apiKeys, id)).state, hash);
  }

  async #findDestination(hash: string): Promise<Destination | undefined> {
    const id = await this.#owner(this.#tokens, "tokenHashes", hash, "destinationId");
    return id === undefined ? undefined : reachable((await this.#aggregates.read(destinations, id)).state, hash);
  }

  async #findSender(hash: string): Promise<Sender | undefined> {
    const id = await this.#owner(this.#senderTokens, "senderTokenHashes", hash, "senderId");
    return id === undefined ? undefined : reachable((await this.#aggregates.read(senders, id)).state, hash);
  }

  async #owner(
    known: LRUCache<string, string>,
    collection: string,
    hash: string,
    field: string,
  ): Promise<string | undefined> {
    const remembered = known.get(hash);
    if (remembered !== undefined) return remembered;
    const find = async () => (await this.#readModels.get(collection, hash))?.[field] as string | undefined;
    let id = await find();
    if (id === undefined) {
      await this.#freshness.wait();
      id = known.get(hash) ?? (await find());
    }
    if (id !== undefined) known.set(hash, id);
    return id;
  }

  async #renewed(): Promise<void> {
    if (!(await this.#following.renewed())) refuse("unavailable", "the log is out of reach; try again");
  }

  #usable(key: ApiKey | undefined, hash: string): ApiKey | undefined {
    return isUsable(key, timestamp(this.#clock.now())) && key.keyHash === hash ? key : undefined;
  }
}

/** A destination or sender answers to its newest token only, and to none once it is deleted. */
function reachable<Target extends Destination | Sender>(target: Target | undefined, hash: string): Target | undefined {
  return target && !target.deleted && target.ingestTokenHash === hash ? target : undefined;
}
