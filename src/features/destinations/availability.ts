import type { Circuit, CircuitPosition } from "../../delivery/circuit/facts.ts";
import type { Destination } from "./facts.ts";

/** The status shown for a destination: its own setting, combined with its circuit. */
export type DestinationStatus = "Active" | "Inactive" | "Suspended";

/** Whether a destination takes events. */
export interface Availability {
  readonly status: DestinationStatus;
  /** The earliest time at which it is tried again, past while that is going on; null unless it is Suspended. */
  readonly suspendedUntil: string | null;
}

/** The status to show: Inactive, as a person set it, takes precedence over the circuit. */
export function destinationStatus(
  { active, circuit }: { readonly active: boolean; readonly circuit: CircuitPosition },
): DestinationStatus {
  if (!active) return "Inactive";
  return circuit === "Open" ? "Suspended" : "Active";
}

/** The availability of a destination with these settings. `openUntil`: until when its circuit is open, or null. */
export function availability(
  shown: { readonly active: boolean; readonly circuit: CircuitPosition; readonly openUntil: string | null },
): Availability {
  const status = destinationStatus(shown);
  return { status, suspendedUntil: status === "Suspended" ? shown.openUntil : null };
}

/** The availability of a folded destination. Its circuit is undefined before the first failed attempt. */
export function availabilityOf({ active }: Destination, circuit: Circuit | undefined): Availability {
  return availability({ active, circuit: circuit?.position ?? "Closed", openUntil: circuit?.openUntil ?? null });
}
