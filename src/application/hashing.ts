import { createHmac, hash } from "node:crypto";
import { variantDigits } from "../domain/uuid.ts";
import type { Ids } from "../ports/ids.ts";

/** A new token that nobody can guess: the prefix, which tells its kind, and 256 bits. */
export function secretToken(ids: Ids, prefix: string): string {
  return prefix + Buffer.from(ids.secretBytes(32)).toString("base64url");
}

/** SHA-256 in hex: how API keys and ingest tokens are kept. */
export function sha256(text: string): string {
  return hash("sha256", text, "hex");
}

/** HMAC-SHA256 in hex: names the reservations of emails and tenant names without revealing those. */
export function keyedHash(key: Uint8Array, text: string): string {
  return createHmac("sha256", key).update(text).digest("hex");
}

/**
 * The key of a tenant's event with this idempotency key: the last three groups of a UUID of version 8 (RFC 9562), made
 * of 74 bits of a SHA-256.
 */
export function idempotentKey(tenantId: string, idempotencyKey: string): string {
  const hex = sha256(`${tenantId}/${idempotencyKey}`);
  return `8${hex.slice(0, 3)}-${variantDigits[parseInt(hex.charAt(3), 16) & 3]}${hex.slice(4, 7)}-${hex.slice(7, 19)}`;
}
