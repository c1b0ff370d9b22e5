import type { Moved } from "../../src/features/events/facts.ts";
import { greatestEventId, leastEventId } from "../../src/kernel/domain/event-id.ts";
import { millis } from "../../src/kernel/domain/time.ts";
import type { Change, Collection } from "../../src/kernel/ports/read-models.ts";
import { put } from "../projection.ts";

/** An event that finished late. */
export type LateFinishDocument = {
  readonly eventId: string;
  readonly tenantId: string;
  readonly finishedAt: string;
};

/** Events that finished late: few, so that an index of their times costs other events nothing. */
export const lateFinishes: Collection<LateFinishDocument> = {
  name: "lateFinishes",
  key: "eventId",
  fields: { eventId: "id", tenantId: "id", finishedAt: "time" },
  indexes: [["tenantId"], ["tenantId", "finishedAt"]],
};

/** An event that finishes later than this after its acceptance, ms, finishes late. Clocks differ by less. */
const soonMs = 60_000;

/** Stores the end of an event that finishes late. */
export function finishedLate({ eventId, tenantId, acceptedAt, at: finishedAt }: Moved): Change[] {
  const isLate = millis(finishedAt) - millis(acceptedAt) > soonMs;
  return isLate ? [put(lateFinishes, { eventId, tenantId, finishedAt })] : [];
}

/** The ids of all events that finished in a period, but for those that finished late; and of those late ones. */
export function finishedIds({ finishedFrom, finishedTo }: {
  readonly finishedFrom?: string | undefined; readonly finishedTo?: string | undefined;
}): { readonly soon: { readonly from?: string; readonly to?: string }; readonly late: { readonly to: string } | null } {
  const from = finishedFrom === undefined ? undefined : millis(finishedFrom) - soonMs;
  return {
    soon: {
      ...(from !== undefined && { from: leastEventId(from) }),
      ...(finishedTo !== undefined && { to: greatestEventId(millis(finishedTo) + soonMs) }),
    },
    late: from === undefined ? null : { to: greatestEventId(from - 1) },
  };
}
