import {
  createHmac, createPrivateKey, createPublicKey, createSecretKey, sign as signAsymmetric, timingSafeEqual,
  type KeyObject,
} from "node:crypto";
import { sha256 } from "./hashing.ts";

/** A tenant's webhook secret made ready to sign with; make it once and keep it. Never logged or stored. */
export interface Signer {
  /** Key of `X-Service-Signature`: the whole secret string, prefix included. */
  readonly serviceKey: KeyObject;
  /** Key of `webhook-signature`: the bytes behind the prefix. */
  readonly standardKey: KeyObject;
}

/** The headers by which a receiver verifies (docs/verify-signatures.md); times are whole seconds since 1970. */
export interface SignatureHeaders {
  readonly "X-Service-Signature": string;
  readonly "webhook-id": string;
  readonly "webhook-timestamp": string;
  readonly "webhook-signature": string;
}

const prefix = "whsec_";
const privatePrefix = "whsk_";
const publicPrefix = "whpk_";
/** The fixed part of an Ed25519 private key in PKCS #8 (RFC 8410). */
const pkcs8Head = Buffer.from("302e020100300506032b657004220420", "hex");
const leastBytes = 24;
const mostBytes = 64;
const noKeys: readonly KeyObject[] = [];

/** The text of a webhook secret made of 32 random bytes. */
export function webhookSecret(bytes: Uint8Array): string {
  return `${prefix}${Buffer.from(bytes).toString("base64")}`;
}

/** Whether a text is `whsec_` and the base64 of 24 to 64 bytes, as other tools read it, too. */
export function isWebhookSecret(text: string): boolean {
  if (!text.startsWith(prefix)) return false;
  const base64 = standardKeyOf(text);
  const bytes = Buffer.from(base64, "base64");
  return bytes.toString("base64") === base64 && bytes.length >= leastBytes && bytes.length <= mostBytes;
}

/** Readies a secret (`whsec_` and base64). */
export function signerOf(secret: string): Signer {
  return {
    serviceKey: createSecretKey(secret, "utf8"),
    standardKey: createSecretKey(standardKeyOf(secret), "base64"),
  };
}

/** The texts of a new Ed25519 key pair, as Standard Webhooks has them, from 32 random bytes. */
export function signingKeyOf(bytes: Uint8Array): { readonly privateKey: string; readonly publicKey: string } {
  const privateKey = `${privatePrefix}${Buffer.from(bytes).toString("base64")}`;
  const { x = "" } = createPublicKey(privateKeyOf(privateKey)).export({ format: "jwk" });
  return { privateKey, publicKey: `${publicPrefix}${Buffer.from(x, "base64url").toString("base64")}` };
}

/** Readies a private key (`whsk_` and base64). */
export function privateKeyOf(text: string): KeyObject {
  const bytes = Buffer.from(text.slice(privatePrefix.length), "base64");
  return createPrivateKey({ key: Buffer.concat([pkcs8Head, bytes]), format: "der", type: "pkcs8" });
}

/** The part of a secret that is base64, behind the prefix. */
export function standardKeyOf(secret: string): string {
  return secret.slice(prefix.length);
}

/** Names a secret without giving it away: 64 bits of its SHA-256, hex. It is in the log of each attempt. */
export function secretFingerprint(secret: string): string {
  return sha256(secret).slice(0, 16);
}

/**
 * Both schemes' headers: ours, and those of Standard Webhooks. `at` is in milliseconds since 1970. `others` sign
 * `webhook-signature`, too.
 */
export function sign(
  signer: Signer, eventId: string, at: number, body: Uint8Array, others: readonly KeyObject[] = noKeys,
): SignatureHeaders {
  const seconds = Math.floor(at / 1000).toString();
  const head = `${eventId}.${seconds}.`;
  let signatures = standardSignature(signer.standardKey, head, body);
  for (const key of others) signatures += ` ${standardSignature(key, head, body)}`;
  return {
    "X-Service-Signature": `sha256=${hmac(signer.serviceKey, body).digest("hex")}`,
    "webhook-id": eventId,
    "webhook-timestamp": seconds,
    "webhook-signature": signatures,
  };
}

function standardSignature(key: KeyObject, head: string, body: Uint8Array): string {
  if (key.type === "private") {
    return `v1a,${signAsymmetric(null, Buffer.concat([Buffer.from(head), body]), key).toString("base64")}`;
  }
  return `v1,${createHmac("sha256", key).update(head).update(body).digest("base64")}`;
}

/** Whether `signature` is the payload's `X-Service-Signature`, in either case of hex; in constant time. */
export function verify(secret: string, payload: string, signature: string): boolean {
  const [, hex] = /^sha256=([0-9A-Fa-f]{64})$/.exec(signature) ?? [];
  return hex !== undefined && timingSafeEqual(Buffer.from(hex, "hex"), hmac(secret, payload).digest());
}

function hmac(key: KeyObject | string, body: Uint8Array | string) {
  return createHmac("sha256", key).update(body);
}
