import { errors } from "undici";
import type { OutboundFailure } from "../../kernel/ports/outbound.ts";

/** A failed call, in the words of the log and the API. */
export class CallFailure extends Error {
  readonly reason: OutboundFailure["reason"];

  constructor(reason: OutboundFailure["reason"], message: string) {
    super(message);
    this.name = "CallFailure";
    this.reason = reason;
  }
}

/** Errors that a receiver's owner can act on. */
const known: Readonly<Record<string, string>> = {
  ECONNREFUSED: "the connection was refused",
  ECONNRESET: "the connection was reset",
  EPIPE: "the connection was reset",
  EHOSTUNREACH: "the host cannot be reached",
  ENETUNREACH: "the network cannot be reached",
  ENETDOWN: "the network cannot be reached",
  EAFNOSUPPORT: "the network cannot be reached",
  EADDRNOTAVAIL: "the address cannot be connected to",
  UND_ERR_SOCKET: "the connection was closed before an answer",
  UND_ERR_INVALID_ARG: "the request cannot be sent: a header or the address is malformed",
};

const closed: ReadonlySet<string> = new Set(["UND_ERR_CLOSED", "UND_ERR_DESTROYED"]);

function codeOf(error: unknown): string {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return typeof code === "string" && /^[A-Z0-9_]{1,60}$/.test(code) ? code : "";
}

/** The failure for an error before or on an established connection, without the error's text. */
export function connectionFailure(error: unknown): CallFailure {
  if (error instanceof CallFailure) return error;
  if (error instanceof errors.HTTPParserError) return new CallFailure("connection", "the answer is not HTTP/1.1");
  const code = codeOf(error);
  if (closed.has(code)) return new CallFailure("not sent", "nothing was sent: the service is shutting down");
  return new CallFailure("connection", known[code] ?? `the connection failed${code === "" ? "" : ` (${code})`}`);
}

const handshakeProblems: Readonly<Record<string, string>> = {
  ERR_SSL_WRONG_VERSION_NUMBER: "the receiver does not speak TLS",
  ERR_TLS_CERT_ALTNAME_INVALID: "the certificate is not for this host",
  CERT_HAS_EXPIRED: "the certificate has expired",
  CERT_NOT_YET_VALID: "the certificate is not yet valid",
  CERT_REVOKED: "the certificate was revoked",
  DEPTH_ZERO_SELF_SIGNED_CERT: "the certificate is self-signed",
  SELF_SIGNED_CERT_IN_CHAIN: "the certificate's authority is not trusted",
  UNABLE_TO_GET_ISSUER_CERT: "the certificate's authority is not trusted",
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: "the certificate's authority is not trusted",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "the certificate's authority is not trusted",
};

const demanded = "the receiver demands a client certificate";
const notAccepted = "the receiver does not accept the client certificate";

/** Alerts about the client's certificate; in TLS 1.3 they come after the handshake. */
const alerts: Readonly<Record<string, string>> = {
  ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED: demanded,
  ERR_SSL_SSLV3_ALERT_NO_CERTIFICATE: demanded,
  ERR_SSL_SSLV3_ALERT_BAD_CERTIFICATE: notAccepted,
  ERR_SSL_SSLV3_ALERT_UNSUPPORTED_CERTIFICATE: notAccepted,
  ERR_SSL_SSLV3_ALERT_CERTIFICATE_REVOKED: notAccepted,
  ERR_SSL_SSLV3_ALERT_CERTIFICATE_EXPIRED: notAccepted,
  ERR_SSL_SSLV3_ALERT_CERTIFICATE_UNKNOWN: notAccepted,
  ERR_SSL_TLSV1_ALERT_UNKNOWN_CA: notAccepted,
  ERR_SSL_TLSV1_ALERT_ACCESS_DENIED: notAccepted,
};

/** The failure for an alert about the client's certificate; null for any other error. */
export function certificateFailure(error: unknown): CallFailure | null {
  const alert = alerts[codeOf(error)];
  return alert === undefined ? null : new CallFailure("tls", alert);
}

/** The failure for an error between TCP connection and end of the TLS handshake. */
export function handshakeFailure(error: unknown): CallFailure {
  const code = codeOf(error);
  if (code === "ECONNRESET" || code === "EPIPE") {
    return new CallFailure("connection", "the connection was closed during the TLS handshake");
  }
  const problem = alerts[code] ?? handshakeProblems[code]
    ?? `the TLS handshake failed${code === "" ? "" : ` (${code})`}`;
  return new CallFailure("tls", problem);
}
