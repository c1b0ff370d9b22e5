import { isExpired, type SealedCertificate } from "../../features/destinations/certificates/facts.ts";
import type { Destination, DestinationAuth } from "../../features/destinations/facts.ts";
import type { Webhook, ReceiverAnswer } from "../../features/events/facts.ts";
import type { Tenant } from "../../features/tenants/facts.ts";
import { late, within, type Clock } from "../../kernel/ports/clock.ts";
import type {
  ClientCertificate, OutboundAnswer, OutboundClient, OutboundFailure,
} from "../../kernel/ports/outbound.ts";
import { Unsealable } from "../../kernel/ports/sealing.ts";
import type { Vault } from "../../kernel/sealing/vault.ts";
import { sha256 } from "../../kernel/tools/hashing.ts";
import { maskedAnswer, secretForms, type SecretForm } from "./masking.ts";
import { failed, type NotMade, type SendOutcome, retryAfterMs } from "./outcome.ts";
import {
  attemptRequest, authHeader, bearer, type AttemptHeaders, type AttemptRequest, type AuthHeader, type ClientGrant,
  type Credentials,
} from "./request.ts";
import { otherKeys, Signings, type Signing } from "./signing.ts";
import type { TenantGrant, TokenCache } from "./token-cache.ts";
import type { NoToken } from "./token-request.ts";

interface DeliveryClientParts {
  readonly outbound: OutboundClient;
  readonly tokens: TokenCache;
  readonly vault: Vault;
  readonly clock: Clock;
  readonly userAgent: string;
  /** For the whole attempt, including a token that is fetched for it, unless the destination has its own. */
  readonly deliveryTimeoutMs: number;
}

const lateToken = "the token came after the deadline: nothing was sent";

/** The newest attempt at an event: to which destination, signed for which tenant. */
export interface Delivery {
  readonly webhook: Webhook;
  readonly destination: Destination;
  readonly tenant: Tenant;
}

/** Proof of identity: a header, and how to forget a token that the receiver turns down. */
interface Proof {
  readonly header: AuthHeader | null;
  readonly forms: readonly SecretForm[];
  readonly turnedDown?: () => void;
}

/** The headers that a destination wants with every attempt, readied to be sent and to be masked. */
interface OwnHeaders {
  readonly values: Readonly<Record<string, string>>;
  readonly forms: readonly SecretForm[];
}

const noHeaders: OwnHeaders = { values: {}, forms: [] };

/** Makes an attempt's single request: authenticated, signed, over the guarded client. */
export class DeliveryClient {
  readonly #parts: DeliveryClientParts;
  readonly #signings: Signings;
  /** By sealed headers; never of a destination without any. */
  readonly #headers = new WeakMap<object, OwnHeaders>();
  /** By credentials that are sent as they are. */
  readonly #proofs = new WeakMap<DestinationAuth, Proof>();
  readonly #certificates = new WeakMap<SealedCertificate, ClientCertificate>();

  constructor(parts: DeliveryClientParts) {
    this.#parts = parts;
    this.#signings = new Signings(parts.vault);
  }

  /** Whether requests go through the outbound proxy. */
  get usesProxy(): boolean {
    return this.#parts.outbound.prepare !== undefined;
  }

  /** Opens the way of the next request through the outbound proxy; the proxy's failure, or null. */
  async prepare({ destination, tenant }: Pick<Delivery, "destination" | "tenant">): Promise<string | null> {
    const { outbound, clock } = this.#parts;
    if (expiredCertificate(destination, clock.now())) return null;
    const problem = await outbound.prepare?.(destination.url);
    if (problem != null) return problem;
    const tokenEndpoint = this.#tokenEndpointFor(destination, tenant);
    return tokenEndpoint === null ? null : (await outbound.prepare?.(tokenEndpoint)) ?? null;
  }

  async send(delivery: Delivery): Promise<SendOutcome | NotMade> {
    const { clock, outbound } = this.#parts;
    const { url, timeoutMs: own } = delivery.destination;
    const expired = expiredCertificate(delivery.destination, clock.now());
    if (expired) return failed("tls", `the client certificate expired at ${expired.notAfter}: nothing was sent`, 0, {});
    const deadlineMs = own ?? this.#parts.deliveryTimeoutMs;
    const startedAt = clock.monotonic();
    const elapsed = () => Math.round(clock.monotonic() - startedAt);
    let request: AttemptRequest;
    let proof: Proof;
    let signing: Signing;
    let headers: OwnHeaders;
    let clientCertificate: ClientCertificate | null;
    const body = Buffer.from(delivery.webhook.payload);
    try {
      clientCertificate = this.#certificateOf(delivery);
      const proven = await this.#prove(delivery, clientCertificate);
      if ("error" in proven) {
        if (proven.proxyProblem !== undefined) return { proxyProblem: proven.proxyProblem };
        return { ...failed("token", proven.error, elapsed(), {}), retryAfterMs: proven.retryAfterMs };
      }
      proof = proven;
      signing = this.#signings.of(delivery);
      headers = this.#ownHeaders(delivery);
      request = this.#request(delivery, body, signing, { auth: proof.header, own: headers.values });
    } catch (error) {
      if (!(error instanceof Unsealable)) throw error;
      const why = "the secret, the credentials or the client certificate cannot be opened with the master key at hand";
      return failed("token", why, elapsed(), {});
    }
    const timeoutMs = deadlineMs - elapsed();
    // A process that was held up may get its token after the attempt has been given up and made again.
    if (timeoutMs <= 0) return failed("token", lateToken, elapsed(), {});
    const answer = await outbound.post({
      url, headers: request.headers, body, keepBytes: keptBodyBytes, timeoutMs, deadlineMs, clientCertificate,
    });
    if (answer.answered && answer.statusCode === 401) proof.turnedDown?.();
    const forms = [...signing.forms, ...proof.forms, ...headers.forms];
    return outcomeOf(answer, request, forms, elapsed(), clock.now());
  }

  #request(
    { webhook }: Delivery, body: Uint8Array, signing: Signing, headers: Pick<AttemptHeaders, "auth" | "own">,
  ): AttemptRequest {
    const { clock, userAgent } = this.#parts;
    const { id: eventId, attempts: number, test, messageId } = webhook;
    const at = clock.now();
    const { signer } = signing;
    return attemptRequest({
      eventId, messageId, number, test, body, signer, otherKeys: otherKeys(signing, at), ...headers, userAgent, at,
    });
  }

  /** The endpoint that the next request needs a token from; null without one. */
  #tokenEndpointFor(destination: Destination, tenant: Tenant): string | null {
    if (destination.auth?.type !== "JwtBearer") return null;
    try {
      const fields = this.#parts.vault.credentials(destination, tenant) as unknown as ClientGrant;
      const clientCertificate = this.#certificateOf({ destination, tenant });
      const grant = { ...fields, tenantId: tenant.id, clientCertificate };
      return this.#parts.tokens.has(grant) ? null : fields.tokenEndpoint;
    } catch (error) {
      // The attempt records that.
      if (error instanceof Unsealable) return null;
      throw error;
    }
  }

  #ownHeaders({ destination, tenant }: Delivery): OwnHeaders {
    const { headers } = destination;
    if (Object.keys(headers).length === 0) return noHeaders;
    let own = this.#headers.get(headers);
    if (!own) {
      const values = this.#parts.vault.headers(destination, tenant);
      own = { values, forms: secretForms(Object.values(values)) };
      this.#headers.set(headers, own);
    }
    return own;
  }

  #certificateOf({ destination, tenant }: Pick<Delivery, "destination" | "tenant">): ClientCertificate | null {
    const { clientCertificate: sealed } = destination;
    if (!sealed) return null;
    let known = this.#certificates.get(sealed);
    if (!known) {
      const pair = this.#parts.vault.clientCertificate(destination, tenant)!;
      known = { ...pair, id: sha256(JSON.stringify(pair)) };
      this.#certificates.set(sealed, known);
    }
    return known;
  }

  #prove(
    { destination, tenant }: Delivery, clientCertificate: ClientCertificate | null,
  ): Proof | Promise<Proof | NoToken> {
    const { auth } = destination;
    if (!auth) return { header: null, forms: [] };
    const known = this.#proofs.get(auth);
    if (known) return known;
    const fields = this.#parts.vault.credentials(destination, tenant);
    const credentials = { type: auth.type, ...fields } as unknown as Credentials;
    if (credentials.type === "JwtBearer") {
      return this.#granted({ ...credentials, tenantId: tenant.id, clientCertificate }, destination);
    }
    const header = authHeader(credentials);
    const proof = { header, forms: secretForms(header.secrets) };
    this.#proofs.set(auth, proof);
    return proof;
  }

  async #granted(grant: TenantGrant, { timeoutMs }: Destination): Promise<Proof | NoToken> {
    const { clock, tokens } = this.#parts;
    const result = timeoutMs === null
      ? await tokens.token(grant) : await within(clock, timeoutMs, tokens.token(grant, timeoutMs));
    if (result === late) return { error: lateToken, retryAfterMs: null };
    if ("error" in result) return result;
    const header = bearer(result.token, grant.clientSecret, ...Object.values(grant.extraParameters ?? {}));
    return { header, forms: secretForms(header.secrets), turnedDown: () => tokens.drop(grant, result.token) };
  }
}

function expiredCertificate({ clientCertificate }: Destination, now: number): SealedCertificate | null {
  return clientCertificate && isExpired(clientCertificate, now) ? clientCertificate : null;
}

function outcomeOf(
  result: OutboundAnswer | OutboundFailure,
  { loggedHeaders }: AttemptRequest,
  forms: readonly SecretForm[],
  durationMs: number,
  now: number,
): SendOutcome | NotMade {
  if (!result.answered) {
    const { reason, error, connected } = result;
    if (reason === "proxy") return { proxyProblem: error };
    return failed(reason, error, durationMs, connected ? loggedHeaders : {});
  }
  const answer = maskedAnswer(keptAnswer(result), forms);
  const { statusCode } = result;
  if (statusCode >= 200 && statusCode < 300) return { ok: true, answer, durationMs, requestHeaders: loggedHeaders };
  const why = statusCode >= 300 && statusCode < 400 ? "; redirects are not followed" : "";
  return {
    ...failed("status", `the receiver answered ${statusCode}${why}`, durationMs, loggedHeaders),
    answer,
    retryAfterMs: retryAfterMs(result, now),
  };
}

/** How much of a receiver's answer is kept in the log. */
export const keptBodyBytes = 16_384;

/** The most bytes of JSON that the kept body may take: control characters take six each. */
const keptJsonBytes = 2 * keptBodyBytes;

const longestEscape = 6;

const keptHeaders = 64;

const keptHeaderChars = 8_192;

/** An answer as the log keeps it: headers within bounds, the body as text. */
export function keptAnswer({ statusCode, headers, body, truncated }: OutboundAnswer): ReceiverAnswer {
  const text = textOf(body, truncated);
  const kept = boundedText(text);
  const cut = truncated || kept.length < text.length;
  return { statusCode, headers: boundedHeaders(headers), body: kept, truncated: cut };
}

function boundedHeaders(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const kept: [string, string][] = [];
  let room = keptHeaderChars;
  for (const [name, value] of Object.entries(headers).slice(0, keptHeaders)) {
    room -= name.length + value.length;
    if (room < 0) break;
    kept.push([name.toLowerCase(), value]);
  }
  return Object.fromEntries(kept);
}

const newDecoder = () => new TextDecoder("utf-8", { ignoreBOM: true });

const wholes = newDecoder();

function textOf(body: Uint8Array, truncated: boolean): string {
  return truncated ? newDecoder().decode(body, { stream: true }) : wholes.decode(body);
}

/** As much of a text as its bounds as JSON allow, in whole characters. */
function boundedText(text: string): string {
  if (text.length * longestEscape <= keptJsonBytes) return text;
  let room = keptJsonBytes;
  for (let at = 0; at < text.length; at += 1) {
    room -= jsonBytesOf(text.charCodeAt(at));
    // The first half of a surrogate pair is left out.
    if (room < 0) return text.slice(0, at).replace(/[\ud800-\udbff]$/, "");
  }
  return text;
}

const asciiBytes = Array.from({ length: 0x80 }, (_, unit) => JSON.stringify(String.fromCharCode(unit)).length - 2);

function jsonBytesOf(unit: number): number {
  if (unit < 0x80) return asciiBytes[unit] ?? 1;
  // A character beyond U+FFFF is of two units and four bytes.
  return unit < 0x800 || (unit >= 0xd800 && unit < 0xe000) ? 2 : 3;
}
