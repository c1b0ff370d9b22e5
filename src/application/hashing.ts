import { createHmac, hash } from "node:crypto";

/** SHA-256 in hex: how API keys and ingest tokens are kept. */
export function sha256(text: string): string {
  return hash("sha256", text, "hex");
}

/** HMAC-SHA256 in hex: how emails and tenant names name their reservations without showing themselves. */
export function keyedHash(key: Uint8Array, text: string): string {
  return createHmac("sha256", key).update(text).digest("hex");
}

/** The name-based UUID (version 5, RFC 9562) of a name within the namespace of another UUID. */
export function nameUuid(namespace: string, name: string): string {
  const input = Buffer.concat([Buffer.from(namespace.replaceAll("-", ""), "hex"), Buffer.from(name)]);
  const hex = hash("sha1", input, "hex");
  const variant = ((parseInt(hex.charAt(16), 16) & 0x3) | 0x8).toString(16);
  const head = `${hex.slice(0, 8)}-${hex.slice(8, 12)}-5${hex.slice(13, 16)}`;
  return `${head}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
