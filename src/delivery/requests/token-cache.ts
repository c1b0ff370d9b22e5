import { LRUCache } from "lru-cache";
import type { Clock } from "../../kernel/ports/clock.ts";
import type { OutboundClient } from "../../kernel/ports/outbound.ts";
import { sha256 } from "../../kernel/tools/hashing.ts";
import type { ClientProof } from "./request.ts";
import { requestToken, type CertifiedGrant, type NoToken, type Token } from "./token-request.ts";

/** A grant and its tenant: tenants share no token, even where their clients are the same. */
export type TenantGrant = CertifiedGrant & { readonly tenantId: string };

interface TokenCacheSettings {
  readonly outbound: OutboundClient;
  readonly clock: Clock;
  readonly userAgent: string;
  /** The outbound deadline. */
  readonly deadlineMs: number;
  readonly capacity: number;
}

/** No token is kept for longer, even where its endpoint allows more. */
const keptAtMostMs = 3_600_000;
/** How long before its end a token is renewed, so that none expires on its way. */
const marginMs = 60_000;

interface Entry {
  readonly result: Promise<Token | NoToken>;
  token: string | null;
  /** How the client proved itself for the last token; tried first for the next one. */
  proof: ClientProof;
  /** Until when `result` holds, on the monotonic clock: infinite while the fetch is under way. */
  until: number;
}

/** Access tokens for destinations, got by the client-credentials grant. */
export class TokenCache {
  readonly #settings: TokenCacheSettings;
  readonly #entries: LRUCache<string, Entry>;

  constructor(settings: TokenCacheSettings) {
    this.#settings = settings;
    this.#entries = new LRUCache({ max: settings.capacity });
  }

  /**
   * The cached token, or a fresh one, fetched once for all callers. A pause that the endpoint asks for is kept.
   * `deadlineMs` allows a fetch more than the outbound deadline.
   */
  async token(grant: TenantGrant, deadlineMs = 0): Promise<{ readonly token: string } | NoToken> {
    const { clock } = this.#settings;
    const key = keyOf(grant);
    const known = this.#entries.get(key);
    const isKnown = known !== undefined && clock.monotonic() < known.until;
    const entry = isKnown ? known : this.#fetch(key, grant, known?.proof ?? "basic", deadlineMs);
    const result = await entry.result;
    if ("token" in result) return { token: result.token };
    const leftMs = entry.until - clock.monotonic();
    if (result.retryAfterMs === null || leftMs <= 0) return result;
    const error = `${result.error}; it asked to be left alone for another ${Math.ceil(leftMs / 1000)} s`;
    return { error, retryAfterMs: leftMs };
  }

  /** Whether a call of {@link token} would not ask the endpoint. */
  has(grant: TenantGrant): boolean {
    const known = this.#entries.peek(keyOf(grant));
    return known !== undefined && this.#settings.clock.monotonic() < known.until;
  }

  /** Forgets a token that a destination answered 401 to; a newer one stays. */
  drop(grant: TenantGrant, token: string): void {
    const entry = this.#entries.peek(keyOf(grant));
    if (entry?.token === token) entry.until = -Infinity;
  }

  #fetch(key: string, grant: TenantGrant, proof: ClientProof, deadlineMs: number): Entry {
    const { clock } = this.#settings;
    const startedAt = clock.monotonic();
    const longest = Math.max(deadlineMs, this.#settings.deadlineMs);
    const result = requestToken({ ...this.#settings, deadlineMs: longest }, grant, proof).then((outcome) => {
      if ("token" in outcome) {
        entry.token = outcome.token;
        entry.proof = outcome.proof;
        entry.until = startedAt + Math.min(outcome.lifetimeMs - marginMs, keptAtMostMs);
      } else {
        entry.until = clock.monotonic() + (outcome.retryAfterMs ?? 0);
      }
      return outcome;
    });
    const entry: Entry = { result, token: null, proof, until: Infinity };
    this.#entries.set(key, entry);
    return entry;
  }
}

/** A hash: tokens are kept for long, and no secret of the client with them. */
function keyOf({
  tenantId, tokenEndpoint, clientId, clientSecret, scope, audience, resource, extraParameters, clientAuthentication,
  clientCertificate,
}: TenantGrant): string {
  return sha256(JSON.stringify([
    tenantId, tokenEndpoint, clientId, clientSecret, scope, audience, resource, extraParameters, clientAuthentication,
    clientCertificate?.id,
  ]));
}
