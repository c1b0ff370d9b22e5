import { logStart, type Position } from "../../../../src/kernel/ports/event-store.ts";

/** Entries are numbered from 1 on; 0 stands before the first. */
export type Sequence = number;

/** Enough for every integer a double holds, so that positions compare as strings. */
const digits = 16;

/** The position of a sequence number: decimal, padded with zeros. */
export function positionOf(sequence: Sequence): Position {
  return sequence === 0 ? logStart : String(sequence).padStart(digits, "0");
}

/** Whether a text can be the position of an entry, as {@link positionOf} writes it. */
export function isPosition(text: string): boolean {
  return text.length === digits && /^\d+$/.test(text) && Number.isSafeInteger(Number(text));
}

/** The sequence number of a position. Throws RangeError when the position is another engine's. */
export function sequenceOf(position: Position): Sequence {
  if (position === logStart) return 0;
  if (!isPosition(position)) throw new RangeError(`not a position of the embedded event store: ${position}`);
  return Number(position);
}
