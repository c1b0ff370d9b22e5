import { at, internalFact, type EventsOf } from "../domain/fact.ts";
import { always, list, matching, optional, sealed, type ObjectOf } from "../domain/schema.ts";

/** The id of the master key that a key was wrapped under: wrapped keys are written `<form>.<id>.<box>`. */
export function masterKeyIdOf(wrapped: string): string {
  return wrapped.split(".")[1] ?? "";
}

// Releases before 0.2 name events by plain hashes. They cannot read a fact with `keyedEventIds`, so none can run here.
const keys = {
  nameHashKey: sealed("For the keyed hashes of emails and tenant names; the secret of event ids is derived from it."),
  tokenKey: sealed("For signing access tokens."),
  keyedEventIds: optional(always(
    "There since the keys were made: no event of this installation was named by an idempotency key's plain hash.",
  )),
};
/** The installation's own keys, wrapped by a master key. */
export type WrappedPlatformKeys = Readonly<ObjectOf<typeof keys>>;

/** Facts of the `platform` stream: keys made once for the whole installation. */
export const platformFacts = {
  PlatformKeysCreated: internalFact({
    data: { ...keys, at },
    meaning: "The installation's own keys, wrapped by the master key.",
  }),
  PlatformKeysRewrapped: internalFact({
    data: {
      ...keys,
      masterKeys: list(
        matching("^[0-9a-f]{16}$"),
        "Ids of all master keys that anything may be wrapped under at this time, the one that wraps from here on "
          + "first.",
        1,
      ),
      at,
    },
    meaning: "The installation's own keys, wrapped by another master key.",
  }),
};
export type PlatformEvent = EventsOf<typeof platformFacts>;
