import { LRUCache } from "lru-cache";
import { keyHashes, tokenHashes } from "../../../projections/directory/directory.ts";
import { senderTokenHashes } from "../../../projections/senders/senders.ts";
import { serviceKeyHashes } from "../../../projections/service-accounts/service-accounts.ts";
import { refuse } from "../../kernel/domain/refusal.ts";
import type { KernelParts } from "../../kernel/kernel-parts.ts";
import type { AggregateType, Folded } from "../../kernel/log/aggregates.ts";
import { hasNewerStream, type StreamSources } from "../../kernel/log/newer-streams.ts";
import { refuseUnreadable, unlessNewer } from "../../kernel/log/unreadable.ts";
import { timestampNow } from "../../kernel/ports/clock.ts";
import { noStream, type LogEntry, type RecordedEvent } from "../../kernel/ports/event-store.ts";
import type { CollectionDefinition } from "../../kernel/ports/read-models.ts";
import { onceKnown } from "../../kernel/tools/once-known.ts";
import { type Circuit, circuits } from "../circuits/facts.ts";
import {
  availabilityOf, type Availability, destinations, type Destination, type DestinationEvent,
} from "../destinations/facts.ts";
import { apiKeys, isUsable, type ApiKey } from "../keys/api-keys/decide.ts";
import type { ApiKeyEvent } from "../keys/api-keys/facts.ts";
import {
  serviceAccounts, usableKey, type ServiceAccount, type ServiceAccountEvent, type ServiceKey,
} from "../keys/service-accounts/facts.ts";
import { senders, type Sender, type SenderEvent } from "../senders/facts.ts";

/** How far a process has seen the changes of other processes. */
export interface Following {
  readonly fresh: boolean;
  /** Resolves true once all changes before the call are known, false when that takes too long. */
  renewed(): Promise<boolean>;
}

/** A sender, and the revision of its stream that it is folded from. */
export type SenderAt = Sender & { readonly revision: number };

/** A service account, and the one of its keys that was shown. */
export interface ServiceKeyOwner {
  readonly account: ServiceAccount;
  readonly key: ServiceKey;
}

/** One kind of secret, and the known owners of its hashes. */
interface Secrets<State, Owner = State> {
  readonly owners: LRUCache<string, string>;
  readonly type: AggregateType<State, never>;
  readonly name: string;
  readonly collection: CollectionDefinition;
  readonly field: string;
  /** The owner as long as the secret of this hash is good, else undefined. */
  readonly valid: (owner: Folded<State>, hash: string) => Owner | undefined;
}

/** The owner of a key or token by its hash. An unknown hash is refused only once the read models have caught up. */
export class CredentialLookup {
  readonly #parts;
  readonly #keys: Secrets<ApiKey>;
  readonly #tokens: Secrets<Destination>;
  readonly #senderTokens: Secrets<Sender, SenderAt>;
  readonly #serviceKeys: Secrets<ServiceAccount, ServiceKeyOwner>;

  /** `max`: hashes of each kind that are remembered. */
  constructor(
    parts: StreamSources
      & Pick<KernelParts, "aggregates" | "readModels" | "freshness" | "clock">
      & { readonly following: Following },
    { max }: { readonly max: number },
  ) {
    this.#parts = parts;
    const owners = () => new LRUCache<string, string>({ max });
    this.#keys = {
      owners: owners(), type: apiKeys, name: "an API key", collection: keyHashes, field: "keyId",
      valid: ({ state }, hash) => this.#usable(state, hash),
    };
    this.#tokens = {
      owners: owners(), type: destinations, name: "a destination",
      collection: tokenHashes, field: "destinationId",
      valid: ({ state }, hash) => reachable(state, hash),
    };
    this.#senderTokens = {
      owners: owners(), type: senders, name: "a sender", collection: senderTokenHashes, field: "senderId",
      valid: ({ state, revision }, hash) => {
        const sender = reachable(state, hash);
        return sender && { ...sender, revision };
      },
    };
    this.#serviceKeys = {
      owners: owners(), type: serviceAccounts, name: "a service account",
      collection: serviceKeyHashes, field: "serviceAccountId",
      valid: ({ state: account }, hash) => {
        const key = usableKey(account, hash, timestampNow(this.#parts.clock));
        return account && key && { account, key };
      },
    };
  }

  /** Remembers the hashes that new entries of the log bring. */
  follow(entries: readonly LogEntry[]): void {
    for (const entry of entries) {
      if (entry.unreadable !== undefined) continue;
      const event = entry as RecordedEvent<ApiKeyEvent | DestinationEvent | SenderEvent | ServiceAccountEvent>;
      if (event.type === "ApiKeyIssued") this.#keys.owners.set(event.data.keyHash, event.data.keyId);
      else if (event.type === "DestinationRegistered" || event.type === "IngestTokenRegenerated") {
        this.#tokens.owners.set(event.data.ingestTokenHash, event.data.destinationId);
      } else if (isSendersToken(event)) {
        this.#senderTokens.owners.set(event.data.ingestTokenHash, event.data.senderId);
      } else if (event.type === "ServiceKeyIssued") {
        this.#serviceKeys.owners.set(event.data.keyHash, event.data.serviceAccountId);
      }
    }
  }

  /** Await it before a look-up: then nothing in memory is older than a second. Rejects with a Refusal (unavailable). */
  refreshed(): Promise<void> | undefined {
    return this.#parts.following.fresh ? undefined : this.#renewed();
  }

  apiKey(hash: string): ApiKey | undefined | Promise<ApiKey | undefined> {
    return this.#find(this.#keys, hash);
  }

  destinationByToken(hash: string): Destination | undefined | Promise<Destination | undefined> {
    return this.#find(this.#tokens, hash);
  }

  senderByToken(hash: string): SenderAt | undefined | Promise<SenderAt | undefined> {
    return this.#find(this.#senderTokens, hash);
  }

  /** The owner of the usable service key of a hash, as the log has it now, or undefined. */
  async serviceKey(hash: string): Promise<ServiceKeyOwner | undefined> {
    const id = this.#serviceKeys.owners.get(hash);
    if (id !== undefined) await this.#parts.aggregates.current(serviceAccounts, id);
    return this.#find(this.#serviceKeys, hash);
  }

  destination(id: string): Destination | undefined | Promise<Destination | undefined> {
    return onceKnown(this.#parts.aggregates.read(destinations, id), ({ state }) => state);
  }

  /** Whether a destination takes events. A circuit that only a newer release can read does not count. */
  availability(destination: Destination): Availability | Promise<Availability> {
    const circuit = unlessNewer<Folded<Circuit>>(
      () => this.#parts.aggregates.read(circuits, destination.id), () => ({ state: undefined, revision: noStream }));
    return onceKnown(circuit, ({ state }) => availabilityOf(destination, state));
  }

  #find<State, Owner>(secrets: Secrets<State, Owner>, hash: string): Owner | undefined | Promise<Owner | undefined> {
    const { owners, type, valid } = secrets;
    const id = owners.get(hash);
    const cached = id === undefined ? undefined : this.#parts.aggregates.peek(type, id);
    return cached ? valid(cached, hash) : this.#read(secrets, hash);
  }

  async #read<State, Owner>(secrets: Secrets<State, Owner>, hash: string): Promise<Owner | undefined> {
    const { owners, type, name, valid } = secrets;
    const known = owners.get(hash);
    if (known !== undefined) return valid(await this.#parts.aggregates.read(type, known), hash);
    const id = await this.#ownerOf(secrets, hash);
    if (id === undefined) {
      // The caller must not learn whose record that is.
      if (await hasNewerStream(this.#parts, type.category)) refuseUnreadable(`the record of ${name}`, { newer: true });
      return undefined;
    }
    // The read models may have heard of a new token before this process has.
    const owner = await this.#parts.aggregates.current(type, id);
    owners.set(hash, id);
    return valid(owner, hash);
  }

  async #ownerOf<State, Owner>(
    { owners, collection, field }: Secrets<State, Owner>, hash: string,
  ): Promise<string | undefined> {
    const lookUp = async () => (await this.#parts.readModels.get(collection.name, hash))?.[field] as string | undefined;
    return (await lookUp()) ?? this.#parts.freshness.ask(async () => owners.get(hash) ?? lookUp());
  }

  async #renewed(): Promise<void> {
    if (!(await this.#parts.following.renewed())) refuse("unavailable", "the log is out of reach; try again");
  }

  #usable(key: ApiKey | undefined, hash: string): ApiKey | undefined {
    return isUsable(key, timestampNow(this.#parts.clock)) && key.keyHash === hash ? key : undefined;
  }
}

/** A destination or sender is reached by its newest token only, and by none once it is deleted. */
function reachable<Target extends Destination | Sender>(target: Target | undefined, hash: string): Target | undefined {
  return target && !target.deleted && target.ingestTokenHash === hash ? target : undefined;
}

function isSendersToken(
  event: ApiKeyEvent | DestinationEvent | SenderEvent | ServiceAccountEvent,
): event is SenderEvent & { readonly data: { readonly ingestTokenHash: string } } {
  return ["SenderCreated", "FanOutSenderCreated", "SenderIngestTokenRegenerated"].includes(event.type);
}
