import type { Aggregates } from "../../kernel/log/aggregates.ts";
import type { Origin } from "../../kernel/log/origin.ts";
import type { Clock } from "../../kernel/ports/clock/clock.ts";
import { timestampNow } from "../../kernel/ports/clock/timestamp-now.ts";
import { apiKeys } from "../aggregate-types.ts";
import { decide } from "../keys/api-keys/decide.ts";

/**
 * Records when a key was last used (ISO 8601 UTC), unless that is known. Call it before the events that show this are
 * deleted, so that rebuilt read models know it too. Throws as {@link Aggregates.change} does.
 */
export async function recordUse(
  { aggregates, clock }: { readonly aggregates: Aggregates; readonly clock: Clock },
  keyId: string,
  usedAt: string,
  origin: Origin,
): Promise<void> {
  const at = timestampNow(clock);
  await aggregates.change(apiKeys, keyId, origin, (state) => decide(state, { type: "RecordUse", usedAt, at }));
}
