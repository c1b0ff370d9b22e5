import { createHash, createPrivateKey, X509Certificate } from "node:crypto";
import { createSecureContext } from "node:tls";

/** A certificate, the intermediate ones after it, and its private key, PEM. */
export interface KeyPair {
  readonly certificate: string;
  readonly privateKey: string;
}

/** A key pair in its canonical spelling, with what may be shown of it. */
export interface ReadKeyPair extends KeyPair {
  /** SHA-256 of the certificate's DER, hex. */
  readonly fingerprint: string;
  /** When the certificate expires, milliseconds since 1970. */
  readonly notAfterMs: number;
}

/** What is wrong with a key pair, and in which of its fields. */
export interface KeyPairProblem {
  readonly field: keyof KeyPair;
  readonly problem: string;
}

const block = /-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]+-----END CERTIFICATE-----/g;

/** Reads a key pair for TLS. A text around the certificates is left out. */
export function readKeyPair({ certificate, privateKey }: KeyPair): ReadKeyPair | KeyPairProblem {
  const chain = attempt(() => (certificate.match(block) ?? []).map((pem) => new X509Certificate(pem)));
  const [leaf] = chain ?? [];
  if (!chain || !leaf) {
    return { field: "certificate", problem: "must be a certificate as PEM, followed by any intermediate ones" };
  }
  const key = attempt(() => createPrivateKey(privateKey));
  if (!key) return { field: "privateKey", problem: "must be a private key as PEM, without a passphrase" };
  if (!leaf.checkPrivateKey(key)) {
    return { field: "privateKey", problem: "does not belong to the first certificate" };
  }
  const pair = {
    certificate: chain.map(String).join(""), privateKey: key.export({ type: "pkcs8", format: "pem" }).toString(),
  };
  if (!attempt(() => createSecureContext({ cert: pair.certificate, key: pair.privateKey }))) {
    return { field: "certificate", problem: "cannot be used for TLS: its key or its signature is too weak" };
  }
  const fingerprint = createHash("sha256").update(leaf.raw).digest("hex");
  return { ...pair, fingerprint, notAfterMs: leaf.validToDate.getTime() };
}

/** Null where the work throws. */
function attempt<Value>(work: () => Value): Value | null {
  try {
    return work();
  } catch {
    return null;
  }
}
