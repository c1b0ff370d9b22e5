import type { Position } from "../../kernel/ports/event-store.ts";

/** A position in $all on the wire, in decimal digits. A checkpoint's two parts may differ; it is returned unchanged. */
export interface PositionPair {
  readonly commit: string;
  readonly prepare: string;
}

const digits = 20;
const pattern = /^(\d{20})\/(\d{20})$/;

/** Fixed widths, so that positions sort as their pairs do. */
export function positionOf({ commit, prepare }: PositionPair): Position {
  return `${commit.padStart(digits, "0")}/${prepare.padStart(digits, "0")}`;
}

/** The position of a stream's record from servers before 22.6. */
export const untold: Position = positionOf({ commit: String(2n ** 64n - 1n), prepare: String(2n ** 64n - 1n) });

/** Positions are signed 64-bit numbers: no record is here or beyond. */
const beyond: Position = positionOf({ commit: String(2n ** 63n), prepare: "0" });

/** Whether a record can be there. Servers from 24.2 on send -1, unsigned, as a checkpoint. */
export function isPossible(position: Position): boolean {
  return position < beyond;
}

/** Whether a text has the form of {@link positionOf} and a record can be there. */
export function isPosition(text: string): boolean {
  return pattern.test(text) && isPossible(text);
}

/** Throws for positions of another engine, or without a possible record. */
export function pairOf(position: Position): PositionPair {
  const [, commit, prepare] = pattern.exec(position) ?? [];
  if (commit === undefined || prepare === undefined || !isPossible(position)) {
    throw new Error(`${position} is no position of EventStoreDB`);
  }
  return { commit: String(BigInt(commit)), prepare: String(BigInt(prepare)) };
}
