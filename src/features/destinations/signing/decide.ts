import { refuse } from "../../../kernel/domain/refusal.ts";
import {
  expiryOf, graceEnd, previousAfter, previousOf, requireFewSecrets,
} from "../../../kernel/domain/signing-secrets.ts";
import type { Timestamp } from "../../../kernel/domain/time.ts";
import type { Destination, DestinationEvent } from "../facts.ts";
import type { SigningSecret } from "./facts.ts";

/** Commands to a destination about its own secrets and keys. */
export type SigningCommand =
  | {
      readonly type: "ReplaceSigningSecret";
      readonly signingSecret: string;
      readonly signingSecretFingerprint: string;
      readonly gracePeriodSeconds: number;
      readonly at: Timestamp;
    }
  /** All older secrets sign no more. */
  | { readonly type: "ExpireSigningSecrets"; readonly at: Timestamp }
  /** Records the older secrets whose end has come. */
  | { readonly type: "RecordExpiredSecrets"; readonly at: Timestamp }
  | { readonly type: "RemoveSigningSecret"; readonly at: Timestamp }
  | {
      readonly type: "ReplaceSigningKey";
      readonly publicKey: string;
      readonly privateKey: string;
      readonly at: Timestamp;
    }
  | { readonly type: "RemoveSigningKey"; readonly at: Timestamp };

/** The facts that a command leads to. Throws a Refusal (not-found, rejected). */
export function decideSigning(state: Destination, command: SigningCommand): DestinationEvent[] {
  const { at } = command;
  const ids = { destinationId: state.id, tenantId: state.tenantId, at };
  const { signingSecret, signingKey } = state;
  switch (command.type) {
    case "ReplaceSigningSecret":
      return replaceSecret(state, command);
    case "ExpireSigningSecrets":
      return expireSecrets(state, requireSigningSecret(signingSecret), at);
    case "RecordExpiredSecrets":
      return signingSecret ? expireSecrets(state, signingSecret, at, (end) => end > at) : [];
    case "RemoveSigningSecret":
      requireSigningSecret(signingSecret);
      return [{ type: "DestinationSecretRemoved", data: ids }];
    case "ReplaceSigningKey": {
      const { publicKey, privateKey } = command;
      return [{ type: "DestinationSigningKeyReplaced", data: { ...ids, publicKey, privateKey } }];
    }
    case "RemoveSigningKey":
      if (!signingKey) refuse("not-found", "signing key not found");
      return [{ type: "DestinationSigningKeyRemoved", data: ids }];
  }
}

/** Throws a Refusal (not-found) where the destination has no secret of its own. */
export function requireSigningSecret(secret: SigningSecret | null): SigningSecret {
  return secret ?? refuse("not-found", "signing secret not found");
}

function replaceSecret(
  { id, tenantId, signingSecret: replaced }: Destination,
  command: Extract<SigningCommand, { type: "ReplaceSigningSecret" }>,
): DestinationEvent[] {
  const { signingSecret, signingSecretFingerprint, gracePeriodSeconds, at } = command;
  const replacement = { fingerprint: signingSecretFingerprint, gracePeriodSeconds, at };
  const previous = replaced ? previousAfter(replaced, replaced.previous, replacement) : [];
  // The first secret replaces the tenant's, which signs on for the grace period.
  const until = replaced ? replaced.tenantSecretUntil : graceEnd(gracePeriodSeconds, at);
  const tenantSecretUntil = gracePeriodSeconds > 0 && until !== null && until > at ? until : undefined;
  requireFewSecrets(previous.length + (tenantSecretUntil === undefined ? 1 : 2));
  const data = {
    destinationId: id, tenantId, at, signingSecret, signingSecretFingerprint,
    ...overlapOf(previousOf(previous), tenantSecretUntil),
  };
  return [{ type: "DestinationSecretReplaced", data }];
}

/** Ends the older secrets and the tenant's, all but those with an end that `stays`. */
function expireSecrets(
  { id, tenantId }: Destination, { previous, tenantSecretUntil }: SigningSecret, at: Timestamp,
  stays = (_end: Timestamp) => false,
): DestinationEvent[] {
  const expiry = expiryOf(previous, stays);
  const tenantEnds = tenantSecretUntil !== null && !stays(tenantSecretUntil);
  if (!expiry && !tenantEnds) return [];
  const { fingerprints, ...staying } = expiry ?? { fingerprints: [], ...previousOf(previous) };
  const until = tenantEnds || tenantSecretUntil === null ? undefined : tenantSecretUntil;
  const data = { destinationId: id, tenantId, at, fingerprints, ...overlapOf(staying, until) };
  return [{ type: "DestinationSecretsExpired", data }];
}

function overlapOf<Previous extends object>(previous: Previous, tenantSecretUntil: Timestamp | undefined) {
  return { ...previous, ...(tenantSecretUntil !== undefined && { tenantSecretUntil }) };
}
