import { destinationStanding, type Standing } from "../../projections/destinations/destinations.ts";
import type { Circuit } from "../domain/circuit/circuit.ts";
import type { Destination } from "../domain/destination/state.ts";

/** Active unless a person set it Inactive, or its circuit is open. */
export function standingOf({ active }: Destination, circuit: Circuit | undefined): Standing {
  return destinationStanding({ active, circuit: circuit?.position ?? "Closed", openUntil: circuit?.openUntil ?? null });
}
