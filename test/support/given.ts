import { expect } from "chai";
import { JsonEventCodec } from "../../src/engines/event-codec/event-codec.ts";
import type { DomainEvent, Metadata } from "../../src/kernel/domain/domain-event.ts";
import { Refusal, type RefusalKind } from "../../src/kernel/domain/refusal.ts";

/** A decider as the domain writes it. */
export interface Decider<State, Command, Event extends DomainEvent> {
  readonly initial: () => State;
  readonly evolve: (state: State, event: Event) => State;
  readonly decide: (state: State, command: Command) => Event[];
}

const codec = new JsonEventCodec();
const metadata: Metadata = {
  actor: { type: "anonymous" }, correlationId: "spec", causationId: null, at: "2026-01-15T09:30:00.000Z",
};

/** The state that facts fold to. */
export function folded<State, Command, Event extends DomainEvent>(
  { initial, evolve }: Decider<State, Command, Event>,
  facts: readonly Event[],
): State {
  return facts.reduce(evolve, initial());
}

/**
 * Specifications of a decider: `given(facts).when(command).gives(facts)`, `.changesNothing()` or
 * `.refused(kind, mention)`. Every fact, past or decided, must satisfy its schema.
 */
export function specificationsOf<State, Command, Event extends DomainEvent>(decider: Decider<State, Command, Event>) {
  return (past: readonly Event[]) => ({
    when(command: Command) {
      const state = folded(decider, past);
      const before = structuredClone(state);
      const decided = (): Event[] => {
        const events = decider.decide(state, command);
        for (const event of [...past, ...events]) codec.encode(event, metadata);
        expect(state, "deciding changes no state").to.deep.equal(before);
        return events;
      };
      return {
        gives: (...events: readonly Event[]): void => { expect(decided()).to.deep.equal(events); },
        /** The types only, where the data is specified elsewhere. */
        givesTypes: (...types: readonly Event["type"][]): void => {
          expect(decided().map(({ type }) => type)).to.deep.equal(types);
        },
        changesNothing: (): void => { expect(decided()).to.deep.equal([]); },
        refused: (kind: RefusalKind, mention: string): void => {
          expect(decided).to.throw(Refusal, mention).with.property("kind", kind);
        },
        /** The state after the decided facts. */
        state: (): State => decided().reduce(decider.evolve, state),
      };
    },
  });
}
