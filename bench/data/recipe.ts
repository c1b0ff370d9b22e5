import { chanceFrom } from "../../test/support/chance.ts";
import { weighted } from "./chance.ts";

/** Counted up when sets made before are not to be used any more. */
export const recipeVersion = 2;
const seed = 20_260_901;
const from = Date.UTC(2026, 8, 1);
const spanMs = 30 * 86_400_000;
/** Failed attempts after which an event is given up. */
export const maxTrys = 5;

/** A step of an event after its acceptance. */
export type Step = "ok" | "status" | "timeout" | "gone" | "cancel" | "replay";

const failures: readonly Step[] = ["status", "timeout", "status", "status", "timeout"];

/** Courses of events, by their weight in a thousand: most events are delivered at once. */
const fates: readonly { readonly weight: number; readonly steps: readonly Step[] }[] = [
  { weight: 915, steps: ["ok"] },
  { weight: 30, steps: ["status", "ok"] },
  { weight: 10, steps: ["timeout", "status", "ok"] },
  { weight: 15, steps: failures },
  { weight: 3, steps: ["gone"] },
  { weight: 2, steps: [...failures, "replay", "ok"] },
  { weight: 5, steps: ["status", "cancel"] },
];
/** The same for paused destinations: their events wait, or a person cancelled them. */
const pausedFates: typeof fates = [
  { weight: 10, steps: [] },
  { weight: 7, steps: ["status"] },
  { weight: 3, steps: ["cancel"] },
];
/** The share of each tenant's events that went to its paused destination. */
const pausedWeight = 0.02;

/** How large tenants and destinations are: the second half as large as the first, the third a third, … */
function skewed(count: number): { readonly index: number; readonly weight: number }[] {
  return Array.from({ length: count }, (_, index) => ({ index, weight: 1 / (index + 1) }));
}

export const tenantCount = 8;
/** Of each tenant; the last one is paused. */
export const destinationCount = 11;
const tenantOf = weighted(skewed(tenantCount));
const destinationOf = weighted(skewed(destinationCount - 1));
const fateOf = weighted(fates);
const pausedFateOf = weighted(pausedFates);

/** One event of a set. */
export interface EventRecipe {
  readonly number: number;
  /** Indexes. */
  readonly tenant: number;
  readonly destination: number;
  readonly idempotencyKey: string;
  /** Milliseconds since 1970. */
  readonly acceptedMs: number;
  readonly steps: readonly Step[];
  /** In [0, 1), for the remaining random choices about the event. */
  readonly chance: () => number;
}

/** When the event of this number, the set's size or beyond included, is accepted: evenly over thirty days. */
export function acceptedMs(number: number, events: number): number {
  return Math.floor(from + (number / events) * spanMs);
}

/** The number of the first event that is accepted at this time or later. */
export function numberAt(ms: number, events: number): number {
  return Math.ceil(((ms - from) / spanMs) * events);
}

/** An event of a set of `events`. A number means the same tenant, destination and fate in sets of any size. */
export function eventRecipe(number: number, events: number): EventRecipe {
  const chance = chanceFrom(seed + Math.imul(number, 0x9e3779b1));
  const tenant = tenantOf(chance()).index;
  const paused = chance() < pausedWeight;
  const destination = paused ? destinationCount - 1 : destinationOf(chance()).index;
  const { steps } = (paused ? pausedFateOf : fateOf)(chance());
  return {
    number, tenant, destination, idempotencyKey: `stored-${number}`, acceptedMs: acceptedMs(number, events), steps,
    chance,
  };
}
