import { decide } from "../domain/api-key/api-key.ts";
import { timestamp } from "../domain/time.ts";
import type { Clock } from "../ports/clock.ts";
import { apiKeys } from "./aggregate-types.ts";
import type { Aggregates } from "./aggregates.ts";
import type { Origin } from "./origin.ts";

/**
 * Writes down when a key was used last (ISO 8601 UTC), where that is news: to be done before the events that tell
 * of it are deleted, so that read models built again know it too.
 */
export async function recordUse(
  { aggregates, clock }: { readonly aggregates: Aggregates; readonly clock: Clock },
  keyId: string,
  usedAt: string,
  origin: Origin,
): Promise<void> {
  const at = timestamp(clock.now());
  await aggregates.change(apiKeys, keyId, origin, (state) => decide(state, { type: "RecordUse", usedAt, at }));
}
