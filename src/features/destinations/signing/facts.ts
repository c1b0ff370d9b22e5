import { at, fact, type EventsOf } from "../../../kernel/domain/fact.ts";
import { list, matching, optional, sealed, text, time, uuid } from "../../../kernel/domain/schema.ts";
import {
  activeAt, endOf, previousSecrets, stillSigning, type PreviousSecret, type SealedSecret, type SecretEnd,
} from "../../../kernel/domain/signing-secrets.ts";
import type { Timestamp } from "../../../kernel/domain/time.ts";

const ids = { destinationId: uuid(), tenantId: uuid(), at };
const told = ["destinationId", "tenantId", "at"] as const;

const overlap = {
  previous: previousSecrets,
  tenantSecretUntil: optional(time("Until when the tenant's secret signs, too; missing where it does not.")),
};

/** Facts of a destination about secrets and keys of its own. */
export const signingFacts = {
  DestinationSecretReplaced: fact({
    data: {
      ...ids, signingSecret: sealed("Sealed under the tenant's data key."), signingSecretFingerprint: text(),
      ...overlap,
    },
    meaning: "The destination's own signing secret was made or replaced. It takes the place of the tenant's.",
    words: "set another signing secret",
    shown: [...told, "signingSecretFingerprint", "previous", "tenantSecretUntil"],
    changes: ["signingSecretFingerprint"],
    audit: "destination",
    setting: "the destination's signing secret was replaced",
    replaces: "signingSecret",
  }),
  DestinationSecretsExpired: fact({
    data: {
      ...ids, fingerprints: list(text(), "The fingerprints of the destination's secrets that ended."), ...overlap,
    },
    meaning: "Older secrets ended, or the tenant's. They sign for the destination no more.",
    words: "ended older signing secrets",
    shown: [...told, "fingerprints", "previous", "tenantSecretUntil"],
    audit: "destination",
    setting: "older signing secrets of the destination ended",
  }),
  DestinationSecretRemoved: fact({
    data: ids,
    meaning: "The destination's own signing secret was removed. The tenant's signs again.",
    words: "removed the destination's own signing secret",
    shown: told,
    audit: "destination",
    setting: "the destination's signing secret was removed",
    sets: { signingSecretFingerprint: null },
  }),
  DestinationSigningKeyReplaced: fact({
    data: {
      ...ids, publicKey: matching("^whpk_[A-Za-z0-9+/]{43}=$"),
      privateKey: sealed("Sealed under the tenant's data key."),
    },
    meaning: "The destination's Ed25519 key was made or replaced. It signs deliveries beside the secret.",
    words: "set another signing key",
    shown: [...told, "publicKey"],
    changes: ["publicKey"],
    audit: "destination",
    setting: "the destination's signing key was replaced",
    replaces: "privateKey",
  }),
  DestinationSigningKeyRemoved: fact({
    data: ids,
    meaning: "The destination's Ed25519 key was removed.",
    words: "removed the signing key",
    shown: told,
    audit: "destination",
    setting: "the destination's signing key was removed",
    sets: { publicKey: null },
  }),
};
type SigningEvent = EventsOf<typeof signingFacts>;

/** A secret of a destination, with what else signs beside it. */
export interface SigningSecret extends SealedSecret {
  readonly previous: readonly PreviousSecret[];
  /** Until when the tenant's secret signs, too; null where it does not. */
  readonly tenantSecretUntil: Timestamp | null;
}

/** An Ed25519 key pair; the private key is sealed. */
export interface SigningKey {
  readonly publicKey: string;
  readonly secret: string;
}

/** The part of a destination that says how its deliveries are signed. */
export interface OwnSigning {
  /** Null where the tenant's secret signs. */
  readonly signingSecret: SigningSecret | null;
  readonly signingKey: SigningKey | null;
}

/** Signed as its tenant's other deliveries. */
export const noOwnSigning: OwnSigning = { signingSecret: null, signingKey: null };

/** Folds one fact in. */
export function evolveSigning<State extends OwnSigning & { readonly updatedAt: Timestamp }>(
  state: State, event: SigningEvent,
): State {
  const { at: updatedAt } = event.data;
  const { signingSecret } = state;
  switch (event.type) {
    case "DestinationSecretReplaced": {
      const { signingSecret: secret, signingSecretFingerprint: fingerprint, tenantSecretUntil = null } = event.data;
      const known = signingSecret ? [signingSecret, ...signingSecret.previous] : [];
      const previous = stillSigning(event.data.previous, known);
      return { ...state, signingSecret: { secret, fingerprint, previous, tenantSecretUntil }, updatedAt };
    }
    case "DestinationSecretsExpired": {
      if (!signingSecret) return state;
      const { previous, tenantSecretUntil = null } = event.data;
      const still = stillSigning(previous, signingSecret.previous);
      return { ...state, signingSecret: { ...signingSecret, previous: still, tenantSecretUntil } };
    }
    case "DestinationSecretRemoved":
      return { ...state, signingSecret: null, updatedAt };
    case "DestinationSigningKeyReplaced": {
      const { publicKey, privateKey } = event.data;
      return { ...state, signingKey: { publicKey, secret: privateKey }, updatedAt };
    }
    case "DestinationSigningKeyRemoved":
      return { ...state, signingKey: null, updatedAt };
  }
}

/** The secrets that sign beside the destination's own at `at`, the newest first; the tenant's has its fingerprint. */
export function otherSecrets(
  { previous, tenantSecretUntil }: SigningSecret, tenantFingerprint: string, at: Timestamp,
): readonly SecretEnd[] {
  const active = activeAt(previous, at).map(endOf);
  if (tenantSecretUntil === null || tenantSecretUntil <= at) return active;
  return [...active, { fingerprint: tenantFingerprint, expiresAt: tenantSecretUntil }];
}
