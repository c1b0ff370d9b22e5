import { Refusal } from "../domain/refusal.ts";
import type { UnreadableEntry } from "../ports/event-store.ts";

type Why = Pick<UnreadableEntry, "newer">;

/** A record of the log that this process cannot read. Its message names the record, never its content. */
export class UnreadableRecord extends Refusal {
  readonly newer: boolean;

  constructor(record: string, { newer }: Why) {
    super("unavailable", newer
      ? `${record} cannot be read by this process: a newer release of the relay wrote a part of it`
      : `${record} cannot be read by any process: a part of it is damaged`);
    this.name = "UnreadableRecord";
    this.newer = newer;
  }
}

/** Throws an {@link UnreadableRecord}. */
export function refuseUnreadable(record: string, why: Why): never {
  throw new UnreadableRecord(record, why);
}

/** Whether an error says that only a newer release can read a record. */
export function isNewer(error: unknown): error is UnreadableRecord {
  return error instanceof UnreadableRecord && error.newer;
}

/** The result of `read`, at once or later as it comes; `instead` where only a newer release can read a record of it. */
export function unlessNewer<Result>(
  read: () => Result | Promise<Result>, instead: () => Result,
): Result | Promise<Result> {
  const otherwise = (error: unknown) => {
    if (!isNewer(error)) throw error;
    return instead();
  };
  try {
    const result = read();
    return result instanceof Promise ? result.catch(otherwise) : result;
  } catch (error) {
    return otherwise(error);
  }
}
