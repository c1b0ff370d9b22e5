import type { Change } from "../../planted/bug.ts";
import type { Invariant } from "../invariants.ts";
import type { Weather } from "../weather.ts";

/** A mistake somebody could make: one passage of a file, and what stands there instead. */
export interface PlantedBug extends Change {
  readonly name: string;
  /** The invariant by which it is caught. */
  readonly breaks: Invariant;
  /** The weather that it shows in: what it needs is rare in any other. */
  readonly weather?: Partial<Weather>;
}
