import type { FailureReason } from "../domain/failure-reason.ts";
import type { KeyPair } from "../tools/key-pair.ts";

/** A certificate that is shown to a server that asks for one in the TLS handshake. */
export interface ClientCertificate extends KeyPair {
  /** A digest of both: connections of different certificates are never shared. */
  readonly id: string;
}

/** A POST, made once: the client does not retry failures. */
export interface OutboundRequest {
  /** https only. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** A string goes out as UTF-8. */
  readonly body: Uint8Array | string;
  /** How much of the answer's body is kept, bytes. */
  readonly keepBytes: number;
  /** How long the call may take, if less than the deadline; a failure still names that. */
  readonly timeoutMs: number;
  /** Takes the place of the configured deadline. */
  readonly deadlineMs?: number | undefined;
  /** Absent or null: a server that asks for a certificate gets none. */
  readonly clientCertificate?: ClientCertificate | null | undefined;
}

/** The receiver answered in time. Redirects are answers like any other. */
export interface OutboundAnswer {
  readonly answered: true;
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string>>;
  /** The first `keepBytes` of the body, or as much as came before the deadline. */
  readonly body: Uint8Array;
  readonly truncated: boolean;
}

/** No answer: none came in time, or the receiver could not, or may not, be called. */
export interface OutboundFailure {
  readonly answered: false;
  /**
   * Of the reasons of a failed attempt, those that a call by itself can have. `proxy`: the outbound proxy failed, which
   * says nothing about the receiver.
   */
  readonly reason: Exclude<FailureReason, "status" | "token" | "outcome unknown"> | "proxy";
  /** For the log and the API: no secret in it. */
  readonly error: string;
  /** False where no connection came of it: the receiver saw nothing of the request. */
  readonly connected: boolean;
}

/** Makes every outbound call, to destinations and to token endpoints. */
export interface OutboundClient {
  /** POSTs. Never throws, never follows a redirect, is over by the deadline in every case. */
  post(request: OutboundRequest): Promise<OutboundAnswer | OutboundFailure>;
  /** Why a URL can never be called (not https, or its host a literal address that is not allowed), or null. */
  refusalOf(url: string): string | null;
  /**
   * Opens a tunnel through the outbound proxy, which the next call to the URL uses. Resolves to the proxy's failure;
   * null with a tunnel, and where the call will fail for another reason. Absent without a proxy.
   */
  readonly prepare?: (url: string) => Promise<string | null>;
  /** Resolves when the calls under way are over; those that come later fail. */
  close(): Promise<void>;
}
