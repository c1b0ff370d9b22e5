import fc from "fast-check";
import { Refusal } from "../../src/kernel/domain/refusal.ts";
import { Chronicle } from "./chronicle.ts";
import { actions, type Step } from "./history-actions.ts";

/** The outcome of some steps in a world of two tenants. */
export class History extends Chronicle {
  constructor(steps: readonly Step[]) {
    super();
    this.createTenant();
    this.createTenant();
    for (const step of steps) {
      this.now += step.after;
      try {
        actions[step.action]?.(this, step);
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
      }
    }
  }

  /** How a failed property shows it. */
  [fc.toStringMethod](): string {
    return this.told.map(({ stream, fact }) => `${stream}: ${fact.type} ${JSON.stringify(fact.data)}`).join("\n");
  }
}

/** The usual actions of an event, drawn often so that many events come far. */
const often = [
  ...["registerDestination", "issueKey", "open"],
  ...Array.from({ length: 5 }, () => ["accept", "startAttempt", "startAttempt", "startAttempt", "fail", "fail"]).flat(),
  ...["succeed", "succeed", "succeed", "replay", "replay"],
];

/** Random actions one after the other, with pauses from nothing to a day. */
export function histories(maxSteps: number): fc.Arbitrary<History> {
  const action = fc.constantFrom(...Object.keys(actions), ...often);
  const after = fc.oneof(fc.nat(1_000), fc.nat(100_000), fc.nat(90_000_000));
  const step = fc.record({ action, which: fc.nat(3), number: fc.nat(20), after });
  return fc
    .array(step, { minLength: Math.floor(maxSteps / 2), maxLength: maxSteps })
    .map((steps) => new History(steps));
}
