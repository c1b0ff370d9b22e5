import { Refusal, refuse, type RefusalKind } from "../../kernel/domain/refusal.ts";
import type { KernelParts } from "../../kernel/kernel-parts.ts";
import { timestampNow } from "../../kernel/ports/clock.ts";
import { sha256 } from "../../kernel/tools/hashing.ts";
import { onceKnown } from "../../kernel/tools/once-known.ts";
import { RecentlyUsed } from "../../kernel/tools/recently-used.ts";
import type { Destination } from "../destinations/facts.ts";
import { isUsable, type ApiKey } from "../keys/api-keys/decide.ts";
import { tenants } from "../tenants/facts.ts";
import type { CredentialLookup, SenderAt } from "./credential-lookup.ts";

/** A producer that showed a good key for a good token. */
export type Admission = DirectAdmission | FanOutAdmission;

/** A producer for one destination. */
export interface DirectAdmission {
  readonly key: ApiKey;
  readonly destination: Destination;
  /** The sender whose token it was; null for a destination's own. */
  readonly sender: SenderAt | null;
}

/** A producer for all subscriptions of a sender that fans out. */
export interface FanOutAdmission {
  readonly key: ApiKey;
  readonly destination: null;
  readonly sender: SenderAt;
}

type Target = Omit<DirectAdmission, "key"> | Omit<FanOutAdmission, "key">;

/** Admits a producer again. A token is always of one kind: senders never begin or cease to fan out. */
export type AdmitAgain<Admitted extends Admission> = () => Admitted | Promise<Admitted>;

/** A producer whose key is good was not admitted. */
export class NotAdmitted extends Refusal {
  readonly key: ApiKey;

  constructor(kind: RefusalKind, message: string, key: ApiKey) {
    super(kind, message);
    this.key = key;
  }
}

const mostAdmitted = 10_000;

/** Authenticates producers: whether they may hand events over, and to which destination. */
export class ProducerAuthentication {
  readonly #parts;
  /** Producers admitted since anything changed, by tenant, token and key: most requests need no hashing. */
  readonly #admitted: RecentlyUsed<Admission>;
  /** The {@link Aggregates.changes} since which they were admitted. */
  #changes = -1;

  constructor(parts: Pick<KernelParts, "aggregates" | "clock"> & { readonly credentials: CredentialLookup }) {
    this.#parts = parts;
    this.#admitted = new RecentlyUsed(parts.clock, { max: mostAdmitted });
  }

  /** Checks key, token and tenant in the order the contract gives; at once where it can. Throws a Refusal. */
  admit(tenantId: string, token: string, apiKey: string | undefined): Admission | Promise<Admission> {
    if (!apiKey) refuse("unauthenticated", "X-Api-Key: is required");
    return onceKnown(this.#parts.credentials.refreshed(), () => this.#known(tenantId, token, apiKey));
  }

  #known(tenantId: string, token: string, apiKey: string): Admission | Promise<Admission> {
    const { aggregates, clock } = this.#parts;
    const { changes } = aggregates;
    if (changes !== this.#changes) {
      this.#admitted.clear();
      this.#changes = changes;
    }
    const names = `${tenantId}/${token}/${apiKey}`;
    const known = this.#admitted.get(names);
    if (known && isUsable(known.key, timestampNow(clock))) return known;
    return this.#admit(tenantId, token, apiKey).then((admission) => {
      if (this.#changes === changes) this.#admitted.set(names, admission);
      return admission;
    });
  }

  async #admit(tenantId: string, token: string, apiKey: string): Promise<Admission> {
    const { credentials } = this.#parts;
    const key = await credentials.apiKey(sha256(apiKey));
    if (!key) refuse("unauthenticated", "X-Api-Key: is not a valid API key");
    const refuseKey = (kind: RefusalKind, message: string): never => {
      throw new NotAdmitted(kind, message, key);
    };
    if (!/^(dst|sndr)_/.test(token)) return refuseKey("invalid", "token: must begin with dst_ or sndr_");
    if (key.tenantId !== tenantId) {
      if (!(await this.#tenantExists(tenantId))) refuseKey("not-found", "tenant not found");
      refuseKey("forbidden", "the API key belongs to another tenant");
    }
    const target = await this.#target(token);
    if (!target) return refuseKey("not-found", "ingest token not found");
    const owner = target.destination ?? target.sender;
    if (owner.tenantId !== tenantId) refuseKey("forbidden", "the ingest token belongs to another tenant");
    return { key, ...target };
  }

  async #target(token: string): Promise<Target | undefined> {
    const { credentials } = this.#parts;
    const hash = sha256(token);
    if (!token.startsWith("sndr_")) {
      const destination = await credentials.destinationByToken(hash);
      return destination && { destination, sender: null };
    }
    const sender = await credentials.senderByToken(hash);
    if (sender?.destinationId === null) return { destination: null, sender };
    const destination = sender && (await credentials.destination(sender.destinationId));
    return destination && { destination, sender };
  }

  async #tenantExists(tenantId: string): Promise<boolean> {
    return (await this.#parts.aggregates.read(tenants, tenantId)).state !== undefined;
  }
}
