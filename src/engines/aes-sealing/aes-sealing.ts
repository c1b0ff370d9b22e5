import { createCipheriv, createDecipheriv, createHash, randomBytes } from "node:crypto";
import { Unsealable, type Sealing, type SealingKey } from "../../kernel/ports/sealing.ts";

const keyBytes = 32;
const nonceBytes = 12;
const tagBytes = 16;

/**
 * AES-256-GCM envelopes, as text:
 *
 *     s1.<box>             a text sealed under a key
 *     w1.<key id>.<box>    a key wrapped under the master key of that id
 *
 * where `box` is the base64url of nonce (12 bytes), ciphertext and tag (16 bytes). Everything before the
 * box and the place are authenticated with it.
 */
export class AesSealing implements Sealing {
  readonly masterKeyIds: readonly string[];
  readonly #masterKeys: ReadonlyMap<string, Uint8Array>;
  readonly #masterKeyId: string;

  /** Wraps under `masterKey`; unwraps keys of `oldMasterKeys`, too. 32 bytes each. */
  constructor(masterKey: Uint8Array, oldMasterKeys: readonly Uint8Array[] = []) {
    const all = [masterKey, ...oldMasterKeys];
    if (all.some((key) => key.length !== keyBytes)) throw new RangeError(`a master key has ${keyBytes} bytes`);
    this.#masterKeys = new Map(all.map((key) => [masterKeyId(key), key]));
    this.#masterKeyId = masterKeyId(masterKey);
    this.masterKeyIds = [...this.#masterKeys.keys()];
  }

  wrap(key: SealingKey, place: string): string {
    return encrypt(`w1.${this.#masterKeyId}.`, key, this.#master(this.#masterKeyId), place);
  }

  unwrap(wrapped: string, place: string): SealingKey {
    const [, head, id] = /^(w1\.([0-9a-f]{16})\.)/.exec(wrapped) ?? [];
    if (!head || !id) throw new Unsealable("not a wrapped key");
    // A copy, since the decrypted key is a slice of a pool and would keep all of it.
    return new Uint8Array(decrypt(head, wrapped, this.#master(id), place));
  }

  seal(text: string, key: SealingKey, place: string): string {
    return encrypt("s1.", Buffer.from(text, "utf8"), key, place);
  }

  open(sealed: string, key: SealingKey, place: string): string {
    if (!sealed.startsWith("s1.")) throw new Unsealable("not a sealed text");
    return decrypt("s1.", sealed, key, place).toString("utf8");
  }

  #master(id: string): Uint8Array {
    const key = this.#masterKeys.get(id);
    if (!key) throw new Unsealable(`wrapped under master key ${id}, which is not at hand`);
    return key;
  }
}

/** Reveals nothing about the key. */
export function masterKeyId(key: Uint8Array): string {
  return createHash("sha256").update("master key id\0").update(key).digest("hex").slice(0, 16);
}

function encrypt(head: string, clear: Uint8Array, key: Uint8Array, place: string): string {
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv("aes-256-gcm", key, nonce, { authTagLength: tagBytes }).setAAD(bound(head, place));
  const box = Buffer.concat([nonce, cipher.update(clear), cipher.final(), cipher.getAuthTag()]);
  return head + box.toString("base64url");
}

function decrypt(head: string, envelope: string, key: Uint8Array, place: string): Buffer {
  const text = envelope.slice(head.length);
  const box = Buffer.from(text, "base64url");
  // Node skips characters outside base64url: only the canonical spelling counts as unchanged.
  const canonical = box.toString("base64url") === text;
  if (!canonical || box.length < nonceBytes + tagBytes) throw new Unsealable("malformed envelope");
  const nonce = box.subarray(0, nonceBytes);
  const tag = box.subarray(box.length - tagBytes);
  const decipher = createDecipheriv("aes-256-gcm", key, nonce, { authTagLength: tagBytes });
  decipher.setAAD(bound(head, place)).setAuthTag(tag);
  try {
    return Buffer.concat([decipher.update(box.subarray(nonceBytes, -tagBytes)), decipher.final()]);
  } catch {
    throw new Unsealable("changed, moved, or sealed under another key");
  }
}

function bound(head: string, place: string): Buffer {
  return Buffer.from(head + place, "utf8");
}
