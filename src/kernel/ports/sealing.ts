/** A symmetric key in use; never stored. */
export type SealingKey = Uint8Array;

/** A sealed value that was changed, moved to another place, or sealed under a key that is not at hand. */
export class Unsealable extends Error {
  override readonly name: string = "Unsealable";
}

/** AES-256-GCM. A value opens only at its `place` (`<tenantId>/<resource>`). All forms are text. */
export interface Sealing {
  /** Ids of the master keys at hand; the first is the one that wraps. An id tells nothing about its key. */
  readonly masterKeyIds: readonly string[];
  /** Wraps a key under the master key; the envelope carries the master key's id, see domain/platform. */
  wrap(key: SealingKey, place: string): string;
  /** Throws Unsealable. */
  unwrap(wrapped: string, place: string): SealingKey;
  /** A fresh envelope each time: nobody can tell whether two of them hold the same text. */
  seal(text: string, key: SealingKey, place: string): string;
  /** Throws Unsealable. */
  open(sealed: string, key: SealingKey, place: string): string;
}
