import type { Change } from "../../src/ports/read-models.ts";
import { leases, waiting } from "../due/due.ts";
import { create, remove, type Collection } from "../projection.ts";

/** A stream that is not projected any further, from its first unreadable entry on. */
export type SetAsideDocument = {
  readonly stream: string;
  /** Of the first entry that cannot be read; `type` and `reason` are that entry's. */
  readonly revision: number;
  readonly type: string;
  /** Why, without any of the content. */
  readonly reason: string;
};

/** Streams set aside, by name. No projection writes it: unreadable entries are the projection runner's to handle. */
export const setAside: Collection<SetAsideDocument> = {
  name: "setAside",
  key: "stream",
  fields: { stream: "text", revision: "number", type: "text", reason: "text" },
  indexes: [],
};

/**
 * Sets a stream aside. Nobody can deliver an event whose history cannot be read: its retry (`eventId`) and the
 * `leaseKeys` of its attempts under way are forgotten. The event itself stays to be shown as it was.
 */
export function setStreamAside(
  document: SetAsideDocument, eventId: string | undefined, leaseKeys: readonly string[],
): Change[] {
  return [
    create(setAside, document),
    ...(eventId === undefined ? [] : [remove(waiting, eventId)]),
    ...leaseKeys.map((key) => remove(leases, key)),
  ];
}
