import type { Change, Collection } from "../../src/kernel/ports/read-models.ts";
import { dueProjection } from "../due/due.ts";
import { put, remove } from "../projection.ts";

/** A stream that is not projected any further, from its first unreadable entry on. */
export type QuarantineDocument = {
  readonly stream: string;
  /** Of the first entry that is not projected. `type`, `reason` and `newer` are those of the unreadable entry. */
  readonly revision: number;
  readonly type: string;
  readonly reason: string;
  readonly newer: boolean;
};

/** Quarantined streams, written by the projection runner. */
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

/** Quarantines a stream. Its event stays listed, but leaves the due index: it cannot be delivered. */
export function quarantineStream(document: QuarantineDocument, due: readonly Change[]): Change[] {
  return [
    put(quarantine, document),
    ...lastOfEach(due).map((change) => remove({ name: change.collection }, change.key)),
  ];
}

/** Ends the quarantine. `due`: the changes to the due index by all facts of the stream so far. */
export function takeBack(stream: string, due: readonly Change[]): Change[] {
  return [remove(quarantine, stream), ...lastOfEach(due)];
}

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
