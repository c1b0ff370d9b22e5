import type { Position } from "../../kernel/ports/event-store.ts";

/** A place in $all as the server tells it. A checkpoint may differ in its two parts and is handed back unchanged. */
export interface PositionPair {
  /** Decimal digits, as on the wire. */
  readonly commit: string;
  readonly prepare: string;
}

/** Digits of the largest position there can be, 2^64 - 1. */
const digits = 20;
const pattern = /^(\d{20})\/(\d{20})$/;

/** Both parts at a fixed width, so that positions sort as their pairs do. */
export function positionOf({ commit, prepare }: PositionPair): Position {
  return `${commit.padStart(digits, "0")}/${prepare.padStart(digits, "0")}`;
}

/** The position that servers before 22.6 give for a record read from its stream. */
export const untold: Position = positionOf({ commit: String(2n ** 64n - 1n), prepare: String(2n ** 64n - 1n) });

/** The server's positions are signed 64-bit numbers: no record stands here or beyond. */
const beyond: Position = positionOf({ commit: String(2n ** 63n), prepare: "0" });

/**
 * Whether a record can stand there. Servers from 24.2 on send -1 as an unsigned number, as the checkpoint of a
 * subscription that found nothing by the end of the log.
 */
export function isPossible(position: Position): boolean {
  return position < beyond;
}

/** Whether a text is a position, as {@link positionOf} writes it, at which a record can stand. */
export function isPosition(text: string): boolean {
  return pattern.test(text) && isPossible(text);
}

/** Throws when the position is another engine's, or no record can stand there. */
export function pairOf(position: Position): PositionPair {
  const [, commit, prepare] = pattern.exec(position) ?? [];
  if (commit === undefined || prepare === undefined || !isPossible(position)) {
    throw new Error(`${position} is no position of EventStoreDB`);
  }
  return { commit: String(BigInt(commit)), prepare: String(BigInt(prepare)) };
}
