import { millis, timestamp, type Timestamp } from "../../kernel/domain/time.ts";

/** How long a key was issued for, milliseconds; null: without an end. */
export type Lifetime = number | null;

interface Expiring {
  readonly expiresAt: Timestamp | null;
}

/** The lifetime of a key as it was issued. */
export function lifetimeOf({ at, expiresAt }: Expiring & { readonly at: Timestamp }): Lifetime {
  return expiresAt === null ? null : millis(expiresAt) - millis(at);
}

/** The end of the key issued in place of another one: it lives as long as that one was issued for. */
export function successorEnd({ lifetimeMs }: { readonly lifetimeMs: Lifetime }, at: Timestamp): Timestamp | null {
  return lifetimeMs === null ? null : timestamp(millis(at) + lifetimeMs);
}

/** The end of a rotated key: after the overlap, or earlier if it had an earlier end. */
export function endOf(
  { expiresAt }: Expiring, { at, overlapSeconds }: { readonly at: Timestamp; readonly overlapSeconds: number },
): Timestamp {
  const end = timestamp(millis(at) + overlapSeconds * 1000);
  return expiresAt !== null && expiresAt < end ? expiresAt : end;
}
