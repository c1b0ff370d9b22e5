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

const blockBytes = 64;
const digestBytes = 32;

/** HMAC-SHA256 in hex (RFC 2104) by two one-shot hashes: half the time of `createHmac`, once for every post. */
export function keyedHasher(key: Uint8Array): (text: string) => string {
  const block = (padding: number, room: number) => {
    const bytes = Buffer.alloc(blockBytes + room);
    bytes.set(key);
    for (let at = 0; at < blockBytes; at += 1) bytes[at] = bytes[at]! ^ padding;
    return bytes;
  };
  const outer = block(0x5c, digestBytes);
  let inner = block(0x36, 1_024);
  return (text) => {
    // A UTF-16 unit takes at most three bytes of UTF-8.
    if (inner.length < blockBytes + 3 * text.length) inner = block(0x36, 3 * text.length);
    const end = blockBytes + inner.write(text, blockBytes);
    outer.write(hash("sha256", inner.subarray(0, end), "binary"), blockBytes, "binary");
    return hash("sha256", outer, "hex");
  };
}

/** The key by which releases before 0.2 named the event of an idempotency key, without a secret. */
export function unkeyedEventKey(tenantId: string, idempotencyKey: string): string {
  return eventKeyOf(sha256(`${tenantId}/${idempotencyKey}`));
}

/** The key of an event from a hash in hex: the last three groups of a UUID of version 8 (RFC 9562), 74 of its bits. */
export function eventKeyOf(hex: string): string {
  return `8${hex.slice(0, 3)}-${variantDigits[parseInt(hex.charAt(3), 16) & 3]}${hex.slice(4, 7)}-${hex.slice(7, 19)}`;
}

const beyondAddresses = 256;

/** An email address without case. Longer texts are compared by their beginning: composing accents takes seconds. */
export function comparableEmail(email: string): string {
  return withoutCase(email.slice(0, beyondAddresses));
}

/** The comparable form of a tenant's name: trimmed, NFC, without case. */
export function comparableName(name: string): string {
  return withoutCase(name.trim());
}

/** By way of upper case, which lower cases of a letter share (σ, ς), but for the dotless ı; NFC on both sides. */
function withoutCase(text: string): string {
  const lower = text.normalize("NFC").toLowerCase();
  return lower.replace(/[^ı]+/gu, (letters) => letters.toUpperCase()).toLowerCase().normalize("NFC");
}
