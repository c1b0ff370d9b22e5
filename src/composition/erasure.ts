import type { Aggregates } from "../application/aggregates.ts";
import { Erasure } from "../application/erasure.ts";
import { Reservations } from "../application/reservations.ts";
import type { Clock } from "../ports/clock.ts";
import type { EventStore } from "../ports/event-store.ts";
import type { ExpiringState } from "../ports/expiring-state.ts";
import type { Ids } from "../ports/ids.ts";
import type { Projector } from "./engines/projector.ts";

interface ErasureParts {
  readonly store: EventStore;
  readonly state: ExpiringState;
  readonly aggregates: Aggregates;
  readonly clock: Clock;
  readonly ids: Ids;
}

/** Erasing, on engines that nothing follows yet. */
export function erasureOf(parts: ErasureParts, projector: Projector): Erasure {
  return new Erasure({ ...parts, reservations: new Reservations(parts) }, () => projector.rebuild());
}
