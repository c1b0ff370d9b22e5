import type { Invariant } from "./invariants.ts";

/** An invariant does not hold. */
export class Broken extends Error {
  constructor(invariant: Invariant, details: string) {
    super(`${invariant}: ${details}`);
    this.name = "Broken";
  }
}

/** Throws {@link Broken} unless the condition holds. */
export function hold(condition: boolean, invariant: Invariant, details: () => string): asserts condition {
  if (!condition) throw new Broken(invariant, details());
}
