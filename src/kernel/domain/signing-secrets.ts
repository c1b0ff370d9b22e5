import { refuse } from "./refusal.ts";
import { list, object, optional, text, time, type ValueOf } from "./schema.ts";
import { millis, timestamp, type Timestamp } from "./time.ts";

/** So many secrets sign a delivery at most. */
export const mostSecrets = 10;

/** The refusal of a secret beyond them. */
export const tooManySecrets = `gracePeriodSeconds: ${mostSecrets} secrets sign at most; end the older ones first`;

const secretEnd = object({
  fingerprint: text("The fingerprint of the secret."),
  expiresAt: time("When it ends."),
});
/** The end of a secret that was replaced, and signs until then. */
export type SecretEnd = ValueOf<typeof secretEnd>;

/** The field of facts that change secrets: the older ones that sign from then on. */
export const previousSecrets = optional(list(
  secretEnd, "Older secrets that still sign, the newest first; missing where none does.", 1,
));

/** A secret, sealed, beside its fingerprint. */
export interface SealedSecret {
  readonly secret: string;
  /** 16 hex digits of its SHA-256: tells secrets apart and reveals none. */
  readonly fingerprint: string;
}

/** A secret that was replaced, and signs until its end. */
export interface PreviousSecret extends SealedSecret, SecretEnd {}

/** The same list wherever no older secret signs. */
export const noPrevious: readonly PreviousSecret[] = [];

/** The replacement of a secret: a period of 0 ends all older ones. */
export interface Replacement {
  readonly fingerprint: string;
  readonly gracePeriodSeconds: number;
  readonly at: Timestamp;
}

/** The older secrets that sign beside a new one, the newest first. */
export function previousAfter(
  replaced: SealedSecret, previous: readonly PreviousSecret[], { fingerprint, gracePeriodSeconds, at }: Replacement,
): readonly SecretEnd[] {
  if (gracePeriodSeconds === 0) return [];
  const ends = [{ ...replaced, expiresAt: graceEnd(gracePeriodSeconds, at) }, ...activeAt(previous, at)].map(endOf);
  return ends.filter((end) => end.fingerprint !== fingerprint);
}

/** The end of a period from `at` on. */
export function graceEnd(gracePeriodSeconds: number, at: Timestamp): Timestamp {
  return timestamp(millis(at) + gracePeriodSeconds * 1_000);
}

/** Throws a Refusal (rejected) where more secrets would sign than may. */
export function requireFewSecrets(count: number): void {
  if (count > mostSecrets) refuse("rejected", tooManySecrets);
}

/** The fields of a fact for older secrets; none where no older secret signs. */
export function previousOf(previous: readonly SecretEnd[]): { readonly previous?: SecretEnd[] } {
  return previous.length === 0 ? {} : { previous: previous.map(endOf) };
}

/** The fields of a fact that ends older secrets, all but those that stay; undefined where none ends. */
export function expiryOf(previous: readonly SecretEnd[], stays: (expiresAt: Timestamp) => boolean) {
  const staying = previous.filter(({ expiresAt }) => stays(expiresAt));
  const fingerprints = previous.filter((secret) => !staying.includes(secret)).map(({ fingerprint }) => fingerprint);
  return fingerprints.length === 0 ? undefined : { fingerprints, ...previousOf(staying) };
}

/** The older secrets of a state once a fact names their ends. */
export function stillSigning(
  ends: readonly SecretEnd[] | undefined, known: readonly SealedSecret[],
): readonly PreviousSecret[] {
  if (!ends) return noPrevious;
  return ends.flatMap(({ fingerprint, expiresAt }) => {
    const found = known.find((secret) => secret.fingerprint === fingerprint);
    return found ? [{ secret: found.secret, fingerprint, expiresAt }] : [];
  });
}

/** The older secrets whose end is later than `at`. */
export function activeAt<Secret extends SecretEnd>(
  previous: readonly Secret[], at: Timestamp,
): readonly Secret[] {
  return previous.length === 0 ? previous : previous.filter(({ expiresAt }) => expiresAt > at);
}

/** An older secret as facts and answers show it. */
export function endOf({ fingerprint, expiresAt }: SecretEnd): SecretEnd {
  return { fingerprint, expiresAt };
}
