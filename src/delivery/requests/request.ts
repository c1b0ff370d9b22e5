import type { KeyObject } from "node:crypto";
import { sign, type Signer } from "../../kernel/tools/signature.ts";

/** The credentials for a destination, by its authentication type. Write-only for the API, sealed at rest. */
export type Credentials =
  | { readonly type: "ApiKey"; readonly headerName: string; readonly value: string }
  | { readonly type: "BearerToken"; readonly token: string }
  | ({ readonly type: "JwtBearer" } & ClientGrant)
  | { readonly type: "BasicAuth"; readonly username: string; readonly password: string };

/** How a client proves itself to a token endpoint (RFC 6749, 2.3.1): by HTTP Basic, or in the form. */
export type ClientProof = "basic" | "form";

/** The data of a client that a token endpoint asks for (RFC 6749, 4.4). */
export interface ClientGrant {
  readonly tokenEndpoint: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly scope?: string | undefined;
  readonly audience?: string | undefined;
  /** RFC 8707. */
  readonly resource?: string | undefined;
  /** Further parameters of the request. */
  readonly extraParameters?: Readonly<Record<string, string>> | undefined;
  /** Absent: by HTTP Basic, then in the form. */
  readonly clientAuthentication?: ClientProof | undefined;
}

/** The header a destination wants to see, and how the log shows it. */
export interface AuthHeader {
  readonly name: string;
  readonly value: string;
  readonly masked: string;
  /** The secrets in the header: to be kept out of the log should the receiver send them back. */
  readonly secrets: readonly string[];
}

/** The headers of an attempt, as sent and as the log may have them. */
export interface AttemptRequest {
  readonly headers: Readonly<Record<string, string>>;
  /** The same with credentials masked. Signatures stay: they prove the content and open nothing. */
  readonly loggedHeaders: Readonly<Record<string, string>>;
}

/** What the headers of an attempt are made of. `at` is in milliseconds since 1970. */
export interface AttemptHeaders {
  readonly eventId: string;
  /** The message that it delivers, if it does. */
  readonly messageId: string | null;
  readonly number: number;
  readonly body: Uint8Array;
  readonly signer: Signer;
  /** Keys that sign `webhook-signature`, too. */
  readonly otherKeys?: readonly KeyObject[];
  readonly auth: AuthHeader | null;
  /** The destination's own headers. */
  readonly own?: Readonly<Record<string, string>>;
  readonly userAgent: string;
  readonly at: number;
  readonly test: boolean;
}

/** The headers of one attempt. */
export function attemptRequest(attempt: AttemptHeaders): AttemptRequest {
  const { auth, own = {}, eventId, messageId, signer, otherKeys, body, at } = attempt;
  const headers = {
    "Content-Type": "application/json",
    "User-Agent": attempt.userAgent,
    "X-Relay-Attempt": attempt.number.toString(),
    ...(attempt.test && { "X-Relay-Test": "true" }),
    ...(messageId !== null && { "X-Relay-Delivery": eventId }),
    ...sign(signer, messageId ?? eventId, at, body, otherKeys),
  };
  const names = Object.keys(own);
  if (!auth && names.length === 0) return { headers, loggedHeaders: headers };
  const masked = Object.fromEntries(names.map((name) => [name, "***"]));
  return {
    headers: { ...headers, ...own, ...(auth && { [auth.name]: auth.value }) },
    loggedHeaders: { ...headers, ...masked, ...(auth && { [auth.name]: auth.masked }) },
  };
}

/** The `User-Agent` of everything this service sends out. */
export function userAgent(version: string): string {
  return `webhook-relay/${version}`;
}

/** The header of credentials that need no token endpoint. */
export function authHeader(credentials: Exclude<Credentials, { type: "JwtBearer" }>): AuthHeader {
  switch (credentials.type) {
    case "ApiKey":
      return { name: credentials.headerName, value: credentials.value, masked: "***", secrets: [credentials.value] };
    case "BearerToken":
      return bearer(credentials.token);
    case "BasicAuth": {
      const { username, password } = credentials;
      const pair = `${username}:${password}`;
      const base64 = Buffer.from(pair).toString("base64");
      return authorization("Basic", base64, [pair, base64, username, password]);
    }
  }
}

/** The header of a bearer token; `others` are secrets that it was got with. */
export function bearer(token: string, ...others: readonly string[]): AuthHeader {
  return authorization("Bearer", token, [token, ...others]);
}

function authorization(scheme: string, value: string, secrets: readonly string[]): AuthHeader {
  return { name: "Authorization", value: `${scheme} ${value}`, masked: `${scheme} ***`, secrets };
}
