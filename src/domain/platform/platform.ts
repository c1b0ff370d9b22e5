import type { DomainEvent } from "../domain-event.ts";
import type { Timestamp } from "../time.ts";

/** The id of the master key that a key was wrapped under: wrapped keys are written `<form>.<id>.<box>`. */
export function masterKeyIdOf(wrapped: string): string {
  return wrapped.split(".")[1] ?? "";
}

/** Facts of the `platform` stream: keys made once for the whole installation, wrapped by the master key. */
export type PlatformEvent =
  | DomainEvent<
      "PlatformKeysCreated",
      {
        /** For the keyed hashes of emails and tenant names. */
        nameHashKey: string;
        /** For signing access tokens. */
        tokenKey: string;
        at: Timestamp;
      }
    >
  /** The same keys under another master key. `masterKeys`: ids of all that something may be wrapped under by now. */
  | DomainEvent<
      "PlatformKeysRewrapped",
      { nameHashKey: string; tokenKey: string; masterKeys: readonly string[]; at: Timestamp }
    >;
