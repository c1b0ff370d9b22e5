import type { Position } from "../../ports/event-store.ts";

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

/** What servers before 22.6 say of the position of a record that is read from its stream. */
export const untold: Position = positionOf({ commit: String(2n ** 64n - 1n), prepare: String(2n ** 64n - 1n) });

/** Throws when the position is another engine's. */
export function pairOf(position: Position): PositionPair {
  const [, commit, prepare] = pattern.exec(position) ?? [];
  if (commit === undefined || prepare === undefined) throw new Error(`${position} is no position of EventStoreDB`);
  return { commit: String(BigInt(commit)), prepare: String(BigInt(prepare)) };
}
