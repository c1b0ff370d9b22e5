import type { Aggregates } from "../application/aggregates.ts";
import { Erasure } from "../application/erasure.ts";
import { Reservations } from "../application/reservations.ts";
import type { Clock } from "../ports/clock.ts";
import type { Ids } from "../ports/ids.ts";
import type { EmbeddedEngines } from "./engines/engines.ts";

interface Parts extends Pick<EmbeddedEngines, "store" | "readSide"> {
  readonly aggregates: Aggregates;
  readonly clock: Clock;
  readonly ids: Ids;
}

/** Erasing, on engines that nothing follows yet. */
export function erasureOf(parts: Parts): Erasure {
  const { readSide } = parts;
  const all = { ...parts, state: readSide.state, reservations: new Reservations(parts) };
  return new Erasure(all, () => readSide.rebuild());
}
