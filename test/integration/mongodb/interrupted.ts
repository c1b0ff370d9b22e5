import type { Change } from "../../../src/kernel/ports/read-models.ts";
import { add, entriesOf, position, put, remove, set, thing } from "../../contract/read-models-things.ts";

const first = [put(thing(1, { size: 1 })), put(thing(2, { size: 1 })), add("a", 0, 1)];
const next: readonly Change[] = [
  { ...put(thing(3, { size: 3 })), fresh: true } as Change,
  put(thing(4, { size: 4 })),
  set(1, { size: 5 }),
  remove(2),
  add("a", 0, 4),
  add("b", 1, 1),
];
const last = [remove(3), remove(4), set(1, { size: 7 }), put(thing(2, { size: 8 })), add("a", 0, -5), add("b", 1, -1)];

/** The entries applied before a writer is interrupted, and their checkpoint. */
export const atFirst = entriesOf(first);
export const begun = position(first.length);

/** The interrupted batch: creates, changes and removes documents, and adds to counters. */
export const paused = entriesOf(next, first.length + 1);
export const pausedEnd = position(first.length + next.length);
/** The commands of its transaction: the state, the three kinds of change of the documents, the counters, the commit. */
export const commandsOfBatch = 6;

/** The next batch: it reverts the interrupted one, so that a late write of that shows. */
export const later = entriesOf(last, first.length + next.length + 1);
export const laterEnd = position(first.length + next.length + last.length);

/** The contents after all batches. */
export const expected = {
  things: [thing(1, { size: 7 }), thing(2, { size: 8 })],
  notes: [],
  counters: Array.from({ length: 10 }, () => 0),
};
