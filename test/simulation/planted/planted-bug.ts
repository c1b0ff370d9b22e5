import type { Change } from "../../planted/bug.ts";
import type { Invariant } from "../invariants.ts";
import type { Weather } from "../weather.ts";

/** A plausible mistake: a passage of a file, and its replacement. */
export interface PlantedBug extends Change {
  readonly name: string;
  /** The invariant that catches the bug. */
  readonly breaks: Invariant;
  /** The weather in which the bug shows; its conditions are rare in other weather. */
  readonly weather?: Partial<Weather>;
}
