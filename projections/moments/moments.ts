import type { Selection, Collection } from "../../src/kernel/ports/read-models.ts";
import type { Projection } from "../projection.ts";

/** The entry that began a minute: the first one in the log whose time is in the minute or later. */
export type MomentDocument = {
  /** The minute of the entry's time, such as `2026-01-31T23:59`. */
  readonly minute: string;
  /** The entry's time, the greatest in the log so far. */
  readonly at: string;
  readonly position: string;
};

/**
 * Places of times in the log, one for each minute with entries; read to find where the log stood at a time. Both fields
 * ascend together. A purge deletes entries: the places built from the rest of the log may then be later ones, and serve
 * the same purpose.
 */
export const moments: Collection<MomentDocument> = {
  name: "moments",
  key: "minute",
  fields: { minute: "text", at: "time", position: "text" },
  indexes: [["position"]],
};

/** The minute that a time is in. */
export function minuteOf(at: string): string {
  return at.slice(0, "2026-01-31T23:59".length);
}

/** The places whose `field` is not beyond `to`, the last one first. */
export function lastMoments(field: "minute" | "position", to: string) {
  const selection: Selection = { collection: moments.name, range: { field, to } };
  return { ...selection, order: { field, descending: true } } as const;
}

/**
 * Where each minute begins in the log. Which entry begins one depends on all entries before it, so the projection
 * runner makes the changes.
 */
export const momentsProjection: Projection = { name: "moments", version: 1, collections: [moments], on: {} };
