import type { DomainEvent } from "../domain-event.ts";
import type { Timestamp } from "../time.ts";

/** The id of the master key that a key was wrapped under: wrapped keys are written `<form>.<id>.<box>`. */
export function masterKeyIdOf(wrapped: string): string {
  return wrapped.split(".")[1] ?? "";
}

/** The installation's own keys, wrapped by a master key. */
export interface WrappedPlatformKeys {
  /** For the keyed hashes of emails and tenant names; the secret of event ids is derived from it. */
  readonly nameHashKey: string;
  /** For signing access tokens. */
  readonly tokenKey: string;
  /**
   * Present since the keys were made: no event of this installation was named by the plain hash of an idempotency key,
   * as releases before 0.2 did. Those cannot read a fact with this field, so none of them can run here.
   */
  readonly keyedEventIds?: boolean;
}

/** Facts of the `platform` stream: keys made once for the whole installation. */
export type PlatformEvent =
  | DomainEvent<"PlatformKeysCreated", WrappedPlatformKeys & { at: Timestamp }>
  /** The same keys under another master key. `masterKeys`: ids of all master keys that may be in use by now. */
  | DomainEvent<"PlatformKeysRewrapped", WrappedPlatformKeys & { masterKeys: readonly string[]; at: Timestamp }>;
