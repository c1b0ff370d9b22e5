import { LRUCache } from "lru-cache";
import type { Clock } from "../../ports/clock/clock.ts";
import type { OutboundAnswer, OutboundClient, OutboundFailure } from "../../ports/outbound.ts";
import { sha256 } from "../hashing.ts";
import type { ClientGrant } from "./request.ts";

/** The result of asking for a token. Failures are not remembered: the next caller tries again. */
export type TokenResult =
  | { readonly token: string }
  /** Why there is none; goes into the log under the reason "token", so there is no secret in it. */
  | { readonly error: string };

/** A grant, and whose: tenants share no token, though their clients be the same. */
export type TenantGrant = ClientGrant & { readonly tenantId: string };

/** How tokens are fetched, and how many are kept. */
interface TokenCacheSettings {
  readonly outbound: OutboundClient;
  readonly clock: Clock;
  readonly userAgent: string;
  /** The outbound deadline: two requests to a token endpoint share it. */
  readonly deadlineMs: number;
  /** How many grants are remembered. */
  readonly capacity: number;
}

/** No token is kept for longer, whatever its endpoint says. */
const keptAtMostMs = 3_600_000;
/** How long before its end a token is renewed, so that none expires on its way. */
const marginMs = 60_000;
/** For an endpoint that does not say how long its tokens live. */
const unstatedMs = 300_000;
const keepBytes = 65_536;
/** What RFC 6749 lets a token endpoint say, in 5.2 and 4.1.2.1; any other text might be a secret sent back. */
const knownErrors: ReadonlySet<unknown> = new Set([
  "invalid_request", "invalid_client", "invalid_grant", "unauthorized_client", "unsupported_grant_type",
  "invalid_scope", "access_denied", "server_error", "temporarily_unavailable",
]);

interface Entry {
  readonly result: Promise<TokenResult>;
  /** The token of `result`, once there is one. */
  token: string | null;
  /** On the monotonic clock; none while the fetch is under way. */
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

  /** The cached token, or a fresh one: fetched once for all who ask meanwhile, within the outbound deadline. */
  async token(grant: TenantGrant): Promise<TokenResult> {
    const { clock } = this.#settings;
    const key = keyOf(grant);
    const entry = this.#entries.get(key);
    return entry && clock.monotonic() < entry.until ? entry.result : this.#fetch(key, grant);
  }

  /** Forgets a token that a destination answered 401 to; a newer one stays. */
  drop(grant: TenantGrant, token: string): void {
    const key = keyOf(grant);
    if (this.#entries.peek(key)?.token === token) this.#entries.delete(key);
  }

  #fetch(key: string, grant: ClientGrant): Promise<TokenResult> {
    const startedAt = this.#settings.clock.monotonic();
    const fetched = fetchToken(this.#settings, grant);
    const entry: Entry = { result: fetched.then(withoutLifetime), token: null, until: Infinity };
    this.#entries.set(key, entry);
    void fetched.then((result) => {
      if ("token" in result && result.lifetimeMs > marginMs) {
        entry.token = result.token;
        entry.until = startedAt + Math.min(result.lifetimeMs - marginMs, keptAtMostMs);
      } else {
        this.#entries.delete(key);
      }
    });
    return entry.result;
  }
}

/** A hash: tokens are kept for long, and no secret of the client with them. */
function keyOf({ tenantId, tokenEndpoint, clientId, clientSecret, scope }: TenantGrant): string {
  return sha256(JSON.stringify([tenantId, tokenEndpoint, clientId, clientSecret, scope]));
}

type Fetched = { readonly token: string; readonly lifetimeMs: number } | { readonly error: string };

function withoutLifetime(fetched: Fetched): TokenResult {
  return "token" in fetched ? { token: fetched.token } : fetched;
}

/**
 * The client authenticates by HTTP Basic, which RFC 6749 requires every server to accept; with a server that refuses
 * that, once more in the form: some accept only that, and none accepts both at once.
 */
async function fetchToken(settings: TokenCacheSettings, grant: ClientGrant): Promise<Fetched> {
  const { outbound, clock, userAgent, deadlineMs } = settings;
  const startedAt = clock.monotonic();
  const { clientId, clientSecret, scope } = grant;
  const form = { grant_type: "client_credentials", ...(scope ? { scope } : {}) };
  const ask = (fields: Record<string, string>, headers: Record<string, string>) =>
    outbound.post({
      url: grant.tokenEndpoint,
      headers: {
        "Content-Type": "application/x-www-form-urlencoded",
        Accept: "application/json",
        "User-Agent": userAgent,
        ...headers,
      },
      body: new URLSearchParams(fields).toString(),
      keepBytes,
      timeoutMs: Math.max(1, Math.round(startedAt + deadlineMs - clock.monotonic())),
    });

  const basic = Buffer.from(`${formEncoded(clientId)}:${formEncoded(clientSecret)}`).toString("base64");
  const first = await ask(form, { Authorization: `Basic ${basic}` });
  if (!first.answered || (first.statusCode !== 400 && first.statusCode !== 401)) return tokenIn(first);
  return tokenIn(await ask({ ...form, client_id: clientId, client_secret: clientSecret }, {}));
}

function formEncoded(text: string): string {
  return new URLSearchParams({ "": text }).toString().slice(1);
}

function tokenIn(outcome: OutboundAnswer | OutboundFailure): Fetched {
  if (!outcome.answered) return { error: `the token endpoint gave no token: ${outcome.error}` };
  const { statusCode, body } = outcome;
  const fields = jsonObject(body);
  if (statusCode < 200 || statusCode >= 300) {
    const { error } = fields;
    const named = knownErrors.has(error) ? ` (${String(error)})` : "";
    return { error: `the token endpoint answered ${statusCode}${named}` };
  }
  const { access_token: token, expires_in: seconds } = fields;
  if (typeof token !== "string" || !/^[!-~]{1,12288}$/.test(token)) {
    return { error: "the token endpoint's answer holds no usable access_token" };
  }
  // Number would throw for some objects, and what throws here ends the process.
  const stated = typeof seconds === "number" || typeof seconds === "string" ? Number(seconds) * 1000 : Number.NaN;
  return { token, lifetimeMs: Number.isFinite(stated) ? stated : unstatedMs };
}

function jsonObject(body: Uint8Array): Readonly<Record<string, unknown>> {
  try {
    return { ...(JSON.parse(Buffer.from(body).toString()) as object | null) };
  } catch {
    return {};
  }
}
