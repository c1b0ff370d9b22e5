import type { Clock } from "../../kernel/ports/clock.ts";
import type {
  ClientCertificate, OutboundAnswer, OutboundClient, OutboundFailure,
} from "../../kernel/ports/outbound.ts";
import { retryAfterMs } from "./outcome.ts";
import type { ClientGrant, ClientProof } from "./request.ts";

/** A grant, and the client certificate that is shown to a token endpoint that asks for one (RFC 8705). */
export type CertifiedGrant = ClientGrant & { readonly clientCertificate?: ClientCertificate | null };

/** Why there is no token. */
export interface NoToken {
  /** Goes into the log under the reason "token", so there is no secret in it. */
  readonly error: string;
  /** The endpoint's `Retry-After`, milliseconds from now; null without one. */
  readonly retryAfterMs: number | null;
  /** The failure of the outbound proxy, if it was that. */
  readonly proxyProblem?: string;
}

/** A token, how long it lives, and which proof it was given for. */
export interface Token {
  readonly token: string;
  readonly lifetimeMs: number;
  readonly proof: ClientProof;
}

interface TokenRequestParts {
  readonly outbound: OutboundClient;
  readonly clock: Clock;
  readonly userAgent: string;
  /** Two requests to a token endpoint share it. */
  readonly deadlineMs: number;
}

/** For an endpoint that does not say how long its tokens live. */
const unstatedMs = 300_000;
const keepBytes = 65_536;
/** The error codes of RFC 6749, 5.2 and 4.1.2.1, and of RFC 8707. Any other text might be a secret sent back. */
const knownErrors: ReadonlySet<unknown> = new Set([
  "invalid_request", "invalid_client", "invalid_grant", "unauthorized_client", "unsupported_grant_type",
  "invalid_scope", "invalid_target", "access_denied", "server_error", "temporarily_unavailable",
]);
/** Overload, or a failure of a gateway: these do not refuse the client's proof. */
const saysNothingOfClient: ReadonlySet<number> = new Set([429, 502, 503, 504]);

/**
 * Asks for a token by the client-credentials grant: with the proof that the grant names; if it names none, with the
 * `first`, and after no token once with the other.
 */
export async function requestToken(
  parts: TokenRequestParts, grant: CertifiedGrant, first: ClientProof,
): Promise<Token | NoToken> {
  const endsAt = parts.clock.monotonic() + parts.deadlineMs;
  const { clientAuthentication: only } = grant;
  const one = await ask(parts, grant, only ?? first, endsAt);
  if ("token" in one.result || only !== undefined || !one.mayRefuseProof) return one.result;
  const second = first === "basic" ? "form" : "basic";
  const { result: other } = await ask(parts, grant, second, endsAt);
  if ("token" in other || other.proxyProblem !== undefined || other.error === one.result.error) return other;
  const how = second === "form" ? "in the form" : "by HTTP Basic";
  return { ...other, error: `${one.result.error}; when the client proved itself ${how}, ${other.error}` };
}

interface TokenReply {
  readonly result: Token | NoToken;
  readonly mayRefuseProof: boolean;
}

async function ask(
  { outbound, clock, userAgent, deadlineMs }: TokenRequestParts, grant: CertifiedGrant, proof: ClientProof,
  endsAt: number,
): Promise<TokenReply> {
  const { clientId, clientSecret, scope, audience, resource, extraParameters, clientCertificate } = grant;
  const basic = Buffer.from(`${formEncoded(clientId)}:${formEncoded(clientSecret)}`).toString("base64");
  const outcome = await outbound.post({
    url: grant.tokenEndpoint,
    headers: {
      "Content-Type": "application/x-www-form-urlencoded",
      Accept: "application/json",
      "User-Agent": userAgent,
      ...(proof === "basic" ? { Authorization: `Basic ${basic}` } : {}),
    },
    body: new URLSearchParams({
      ...extraParameters,
      grant_type: "client_credentials",
      ...(scope ? { scope } : {}),
      ...(audience ? { audience } : {}),
      ...(resource ? { resource } : {}),
      ...(proof === "form" ? { client_id: clientId, client_secret: clientSecret } : {}),
    }).toString(),
    keepBytes,
    timeoutMs: Math.max(1, Math.round(endsAt - clock.monotonic())),
    deadlineMs,
    clientCertificate,
  });
  const mayRefuseProof = outcome.answered && !saysNothingOfClient.has(outcome.statusCode);
  return { result: tokenIn(outcome, proof, clock.now()), mayRefuseProof };
}

function formEncoded(text: string): string {
  return new URLSearchParams({ "": text }).toString().slice(1);
}

function tokenIn(outcome: OutboundAnswer | OutboundFailure, proof: ClientProof, now: number): Token | NoToken {
  if (!outcome.answered) {
    const error = `the token endpoint gave no token: ${outcome.error}`;
    return { error, retryAfterMs: null, ...(outcome.reason === "proxy" && { proxyProblem: outcome.error }) };
  }
  const { statusCode, body } = outcome;
  const { access_token: token, expires_in: seconds, error } = jsonObject(body);
  const isSuccess = statusCode >= 200 && statusCode < 300;
  if (isSuccess && typeof token === "string" && /^[!-~]{1,12288}$/.test(token)) {
    return { token, lifetimeMs: lifetimeOf(seconds), proof };
  }
  const named = knownErrors.has(error) ? ` (${String(error)})` : "";
  return {
    error: isSuccess && named === ""
      ? "the token endpoint's answer holds no usable access_token"
      : `the token endpoint answered ${statusCode}${named}`,
    retryAfterMs: retryAfterMs(outcome, now),
  };
}

/** Some endpoints write the number as a text. `String` would throw for some objects, and that would end the process. */
function lifetimeOf(seconds: unknown): number {
  const stated = typeof seconds === "number" || typeof seconds === "string" ? Number.parseFloat(String(seconds)) : NaN;
  return Number.isFinite(stated) ? stated * 1000 : unstatedMs;
}

function jsonObject(body: Uint8Array): Readonly<Record<string, unknown>> {
  try {
    return { ...(JSON.parse(new TextDecoder().decode(body)) as object | null) };
  } catch {
    return {};
  }
}
