import { expect } from "chai";
import fc from "fast-check";
import type { DomainEvent } from "../../src/kernel/domain/domain-event.ts";
import { Refusal, type RefusalKind } from "../../src/kernel/domain/refusal.ts";
import type { Decider } from "./given.ts";
import { sized } from "./size.ts";

/** The expected result of a step: types of facts in order, none without a change, or the kind of the refusal. */
export type Expected = readonly string[] | { readonly refused: RefusalKind };

/** A decider beside a small model that says the same in other words. */
export interface Comparison<State, Command, Event extends DomainEvent, Step, Model> {
  readonly decider: Decider<State, Command, Event>;
  readonly step: fc.Arbitrary<Step>;
  readonly model: () => Model;
  /** The expected result of the step. Changes the model accordingly. */
  readonly expected: (model: Model, step: Step, at: string) => Expected;
  readonly command: (step: Step, at: string) => Command;
  /** A view of the state and one of the model: they must be equal after every step. */
  readonly ofState: (state: State) => unknown;
  readonly ofModel: (model: Model) => unknown;
}

const start = Date.parse("2026-01-15T09:30:00.000Z");
/** Between two steps, ms. */
const pauses = [0, 1, 1_000, 60_000, 86_400_000];

/**
 * Runs random sequences of commands past both (10,000 in full size). Returns every outcome that was met: the types of
 * facts, joined, "nothing", or the kind of a refusal, each after the step's `type`.
 */
export function met<State, Command, Event extends DomainEvent, Step extends { readonly type: string }, Model>(
  { decider, step, model: begin, expected, command, ofState, ofModel }: Comparison<State, Command, Event, Step, Model>,
): ReadonlySet<string> {
  const outcomes = new Set<string>();
  const row = fc.tuple(fc.constantFrom(...pauses), step);
  fc.assert(
    fc.property(fc.array(row, { maxLength: 40 }), (rows) => {
      let state = decider.initial();
      let now = start;
      const model = begin();
      for (const [pauseMs, one] of rows) {
        now += pauseMs;
        const at = new Date(now).toISOString();
        const real = decided(() => decider.decide(state, command(one, at)));
        const types = "refused" in real ? real : real.map(({ type }) => type);
        expect(types, JSON.stringify(one)).to.deep.equal(expected(model, one, at));
        outcomes.add(`${one.type}: ${"refused" in types ? types.refused : types.join() || "nothing"}`);
        if (!("refused" in real)) state = real.reduce(decider.evolve, state);
        expect(ofState(state), `after ${JSON.stringify(one)}`).to.deep.equal(ofModel(model));
      }
    }),
    { numRuns: sized(1_500, 10_000) },
  );
  return outcomes;
}

function decided<Event>(decide: () => readonly Event[]): readonly Event[] | { readonly refused: RefusalKind } {
  try {
    return decide();
  } catch (error) {
    if (error instanceof Refusal) return { refused: error.kind };
    throw error;
  }
}
