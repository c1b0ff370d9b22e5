import type { Selection, Collection } from "../../src/kernel/ports/read-models.ts";
import type { Projection } from "../projection.ts";

/** The first entry of the log whose time is in the minute or later. */
export type MomentDocument = {
  /** Such as `2026-01-31T23:59`. */
  readonly minute: string;
  readonly at: string;
  readonly position: string;
};

/** The positions at which minutes begin, to find the end of the log at a time. Both fields ascend together. */
export const moments: Collection<MomentDocument> = {
  name: "moments",
  key: "minute",
  fields: { minute: "text", at: "time", position: "text" },
  indexes: [["position"]],
};

/** The minute of a time. */
export function minuteOf(at: string): string {
  return at.slice(0, "2026-01-31T23:59".length);
}

/** The moments whose `field` is not beyond `to`, the last one first. */
export function lastMoments(field: "minute" | "position", to: string) {
  const selection: Selection = { collection: moments.name, range: { field, to } };
  return { ...selection, order: { field, descending: true } } as const;
}

/** Made by the projection runner, since it depends on all earlier entries. */
export const momentsProjection: Projection = { name: "moments", version: 1, collections: [moments], on: {} };
