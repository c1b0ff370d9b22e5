import type { DomainEvent } from "../domain-event.ts";
import type { Timestamp } from "../time.ts";

/** Fact of the `platform` stream: keys made once for the whole installation, wrapped by the master key. */
export type PlatformEvent = DomainEvent<
  "PlatformKeysCreated",
  {
    /** For the keyed hashes of emails and tenant names. */
    nameHashKey: string;
    /** For signing access tokens. */
    tokenKey: string;
    at: Timestamp;
  }
>;
