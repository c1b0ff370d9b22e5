import { logStart, type Position } from "../../../../src/kernel/ports/event-store.ts";

/** Entries are numbered from 1; 0 is before the first. */
export type Sequence = number;

/** Enough for every safe integer, so that positions compare as strings. */
const digits = 16;

/** The position of a sequence: decimal, padded with zeros. */
export function positionOf(sequence: Sequence): Position {
  return sequence === 0 ? logStart : String(sequence).padStart(digits, "0");
}

/** Whether a text has the form of {@link positionOf}. */
export function isPosition(text: string): boolean {
  return text.length === digits && /^\d+$/.test(text) && Number.isSafeInteger(Number(text));
}

/** Throws RangeError for a position of another engine. */
export function sequenceOf(position: Position): Sequence {
  if (position === logStart) return 0;
  if (!isPosition(position)) throw new RangeError(`not a position of the embedded event store: ${position}`);
  return Number(position);
}
