import type { Change, Collection } from "../../src/kernel/ports/read-models.ts";
import { dueProjection } from "../due/due.ts";
import { put, remove } from "../projection.ts";

/** A stream that is not projected any further, from its first unreadable entry on. */
export type QuarantineDocument = {
  readonly stream: string;
  /** Of the first entry that is not projected. `type`, `reason` and `newer` are those of the unreadable entry. */
  readonly revision: number;
  readonly type: string;
  /** Why, without any of the content. */
  readonly reason: string;
  /** Whether a newer release can read the entry: the stream waits for that release. Otherwise it is damaged. */
  readonly newer: boolean;
};

/** Streams quarantined, by name. No projection writes it: unreadable entries are the projection runner's to handle. */
export const quarantine: Collection<QuarantineDocument> = {
  name: "quarantine",
  key: "stream",
  fields: { stream: "text", revision: "number", type: "text", reason: "text", newer: "boolean" },
  indexes: [],
};

const dueCollections: ReadonlySet<string> = new Set(dueProjection.collections.map(({ name }) => name));

/** Whether a change is of a document of the due index. */
export function isOfDueIndex(change: Change): boolean {
  return change.op !== "add" && dueCollections.has(change.collection);
}

/**
 * Quarantines a stream, or remembers a later entry of a quarantined one. An event with an unreadable history cannot be
 * delivered, so the due index forgets it. `due`: the changes of the due index by the stream's facts before that entry.
 * The event itself stays to be shown as it was.
 */
export function quarantineStream(document: QuarantineDocument, due: readonly Change[]): Change[] {
  return [
    put(quarantine, document),
    ...lastOfEach(due).map((change) => remove({ name: change.collection }, change.key)),
  ];
}

/**
 * Ends the quarantine: the stream is projected like any other from now on. `due`: the changes of the due index by all
 * its facts so far, with which the due index has the event again as if there had been no quarantine.
 */
export function takeBack(stream: string, due: readonly Change[]): Change[] {
  return [remove(quarantine, stream), ...lastOfEach(due)];
}

/** The last change of each document, of changes that put or remove documents. */
function lastOfEach(changes: readonly Change[]) {
  const last = new Map<string, Extract<Change, { readonly op: "put" | "remove" }>>();
  for (const change of changes) {
    if (change.op === "remove") last.set(`${change.collection} ${change.key}`, change);
    if (change.op !== "put") continue;
    const { op, collection, key, document } = change;
    last.set(`${collection} ${key}`, { op, collection, key, document });
  }
  return [...last.values()];
}
