import { X509Certificate } from "node:crypto";
import type { KeyPair } from "../../src/kernel/tools/key-pair.ts";
import { makeAuthority } from "./tls.ts";

/** A client certificate, and what answers show of it. */
export interface TestCertificate {
  readonly pair: KeyPair;
  readonly shown: { readonly fingerprint: string; readonly notAfter: string };
}

/** Makes client certificates of an authority. */
export function certificatesOf(authority = makeAuthority()) {
  return (validMs?: number): TestCertificate => {
    const { cert: certificate, key: privateKey } = authority.issue(["relay.example"], validMs);
    const { fingerprint256, validToDate } = new X509Certificate(certificate);
    const fingerprint = fingerprint256.replaceAll(":", "").toLowerCase();
    return { pair: { certificate, privateKey }, shown: { fingerprint, notAfter: validToDate.toISOString() } };
  };
}
